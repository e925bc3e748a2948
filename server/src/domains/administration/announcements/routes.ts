import { epochSeconds } from "../../../base/clock.ts";
import { asId, type AnnouncementId } from "../../../base/ids.ts";
import { callerOf, type HttpScope } from "../../../http/server.ts";
import {
  AnnouncedResponse,
  AnnouncementParams,
  CreateBody,
  ListResponse,
  ShownResponse,
  UpdateBody,
} from "./schema.ts";
import { announce, changeAnnouncement, listAnnouncementsFor, removeAnnouncement } from "./service.ts";
import { listAnnouncements, type Announcement } from "./store.ts";

const TAGS = ["Administration"];
const LISTED_MAX = 200;

/** Routes for announcements: everybody reads those that are shown, administrators write them. */
export function announcementRoutes(scope: HttpScope): void {
  readRoutes(scope);
  writeRoutes(scope);
}

function readRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/announcements/",
    {
      config: { access: { operation: "api.announcement.list", permission: "optional" } },
      schema: {
        tags: ["Notifications"],
        summary: "Show announcements of the operator",
        response: { 200: ShownResponse },
      },
    },
    async ({ identity }) => {
      const shown = await listAnnouncementsFor(database.kysely, clock.now(), identity);
      return { success: true as const, announcements: shown.map(viewShown) };
    },
  );

  app.get(
    "/api/v0/admin/announcements/",
    {
      config: { access: { operation: "api.admin.announcements", permission: "admin" } },
      schema: { tags: TAGS, summary: "List announcements of all times", response: { 200: ListResponse } },
    },
    async () => {
      const now = clock.now();
      const announcements = await listAnnouncements(database.kysely, LISTED_MAX);
      return {
        success: true as const,
        announcements: announcements.map((one) => ({
          ...viewShown(one),
          ...{ audience: one.audience, created_by: one.createdBy },
          is_shown: one.from <= now && (one.until === undefined || one.until > now),
          ...{ created_at: epochSeconds(one.createdAt), updated_at: epochSeconds(one.updatedAt) },
        })),
      };
    },
  );
}

function writeRoutes({ app, mutate }: HttpScope): void {
  app.post(
    "/api/v0/admin/announcements/",
    {
      config: { access: { operation: "api.admin.announcement.create", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Publish an announcement",
        body: CreateBody,
        response: { 200: AnnouncedResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const id = await announce(tx, callerOf(request), request.body);
        return { success: true as const, id };
      }),
  );

  app.put(
    "/api/v0/admin/announcements/:id/",
    {
      config: { access: { operation: "api.admin.announcement.update", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Change an announcement",
        params: AnnouncementParams,
        body: UpdateBody,
        response: { 200: AnnouncedResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const id = asId<AnnouncementId>(request.params.id);
        await changeAnnouncement(tx, callerOf(request), { id, body: request.body });
        return { success: true as const, id };
      }),
  );

  app.delete(
    "/api/v0/admin/announcements/:id/",
    {
      config: { access: { operation: "api.admin.announcement.delete", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Remove an announcement",
        params: AnnouncementParams,
        response: { 200: AnnouncedResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const id = asId<AnnouncementId>(request.params.id);
        await removeAnnouncement(tx, callerOf(request), id);
        return { success: true as const, id };
      }),
  );
}

function viewShown({ id, title, message, level, from, until }: Announcement) {
  return {
    ...{ id, title, message, level, from: epochSeconds(from) },
    until: until === undefined ? null : epochSeconds(until),
  };
}
