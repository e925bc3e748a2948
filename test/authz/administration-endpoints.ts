// The rows of operations by which administrators see and run the whole market.
import { aCaller } from "../support/fixtures.ts";
import { at, plain, type Row } from "./row.ts";
import { aListedMachine, anInstance, type World } from "./world.ts";

const announcement = { title: "Maintenance", message: "On Sunday." };

const pauseLater = () => ({ message: "Later.", from: Date.now() / 1000 + 3_600, until: Date.now() / 1000 + 7_200 });

async function anAnnouncement(world: World): Promise<string> {
  const { id } = await world.done("POST", at("/api/v0/admin/announcements/", announcement), world.admin);
  return `/api/v0/admin/announcements/${Number(id)}/`;
}

export const administrationEndpoints = {
  "GET /api/v0/admin/users/": plain("admin", "/api/v0/admin/users/"),
  "GET /api/v0/admin/users/{id}/": {
    needs: "admin",
    call: ({ owner }) => ({ path: `/api/v0/admin/users/${owner.id}/` }),
  },
  "GET /api/v0/admin/machines/": plain("admin", "/api/v0/admin/machines/"),
  "GET /api/v0/admin/instances/": plain("admin", "/api/v0/admin/instances/"),
  "GET /api/v0/admin/overview/": plain("admin", "/api/v0/admin/overview/"),
  "GET /api/v0/admin/loops/": plain("admin", "/api/v0/admin/loops/"),
  "GET /api/v0/admin/settings/": plain("admin", "/api/v0/admin/settings/"),
  "GET /api/v0/announcements/": plain("optional", "/api/v0/announcements/"),
  "GET /api/v0/admin/announcements/": plain("admin", "/api/v0/admin/announcements/"),
  "POST /api/v0/admin/announcements/": plain("admin", "/api/v0/admin/announcements/", announcement),
  "PUT /api/v0/admin/announcements/{id}/": {
    needs: "admin",
    call: async (world) => at(await anAnnouncement(world), { level: "warning" }),
  },
  "DELETE /api/v0/admin/announcements/{id}/": {
    needs: "admin",
    call: async (world) => at(await anAnnouncement(world)),
  },
  "POST /api/v0/admin/instances/{id}/stop/": {
    needs: "admin",
    call: async (world) => {
      const { id } = await anInstance(world, world.owner);
      return at(`/api/v0/admin/instances/${id}/stop/`, { reason: "Smoke." });
    },
  },
  "POST /api/v0/admin/machines/{id}/unlist/": {
    needs: "admin",
    call: async (world) => at(`/api/v0/admin/machines/${await aListedMachine(world)}/unlist/`, { reason: "Wrong." }),
  },
  "POST /api/v0/admin/machines/{id}/move_notice/": {
    needs: "admin",
    call: async (world) => {
      const body = { reason: "It goes.", until: Date.now() / 1000 + 3_600 };
      return at(`/api/v0/admin/machines/${await aListedMachine(world)}/move_notice/`, body);
    },
  },
  "POST /api/v0/admin/users/{id}/export/": {
    needs: "admin",
    call: ({ owner }) => at(`/api/v0/admin/users/${owner.id}/export/`, { reason: "They asked." }),
  },
  "POST /api/v0/admin/users/{id}/delete/": {
    needs: "admin",
    call: async ({ database }) => {
      const { id } = await aCaller(database);
      return at(`/api/v0/admin/users/${id}/delete/`, { reason: "They asked." });
    },
  },
  "GET /api/v0/admin/pause/": plain("admin", "/api/v0/admin/pause/"),
  // A pause for later, since only administrators act while one lasts.
  "PUT /api/v0/admin/pause/": {
    needs: "admin",
    call: () => at("/api/v0/admin/pause/", pauseLater()),
  },
  "DELETE /api/v0/admin/pause/": {
    needs: "admin",
    call: async (world) => {
      await world.done("PUT", at("/api/v0/admin/pause/", pauseLater()), world.admin);
      return at("/api/v0/admin/pause/");
    },
  },
  "GET /api/v0/admin/search/": plain("admin", "/api/v0/admin/search/?q=a"),
} satisfies Readonly<Record<string, Row>>;
