import type { UserId } from "../../../../base/ids.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { requireOwnId } from "../../../people/accounts/index.ts";
import type { Template } from "../columns.ts";
import type { TemplateMeans } from "../service.ts";
import { viewTemplate, type TemplateView } from "../views.ts";
import {
  AddedAnswer,
  AutoscalerAnswer,
  ChoicesAnswer,
  HashParams,
  LibraryAnswer,
  RecentAnswer,
  RecentQuery,
  RemovedAnswer,
  StoreBody,
  TemplateIdBody,
  UserParams,
} from "./schema.ts";
import {
  addToLibrary,
  removeFromLibrary,
  showChoices,
  showLibrary,
  showRecent,
  showRecommended,
  storeTemplates,
} from "./service.ts";

const LIBRARY = "/api/v0/users/:user_id/templates/";
const TAGS = ["Templates"];

/** The library of an account: its own templates, others' that it added, and those that it rented with. */
export function libraryRoutes(scope: HttpScope, means: TemplateMeans): void {
  readingRoutes(scope, means);
  writingRoutes(scope, means);
  recentRoute(scope, means);
}

function readingRoutes({ app, database }: HttpScope, means: TemplateMeans): void {
  app.get(
    LIBRARY,
    {
      config: { access: { operation: "api.template.library", permission: "instance_read" } },
      schema: {
        summary: "List the templates of the own library",
        tags: TAGS,
        params: UserParams,
        response: { 200: LibraryAnswer },
      },
    },
    async (request) => {
      const userId = requireOwnId(identityOf(request), request.params.user_id);
      const templates = await showLibrary(database.kysely, userId, means);
      return { success: true as const, templates: viewEntries(templates, userId) };
    },
  );
  app.get(
    `${LIBRARY}autoscaler/`,
    {
      config: { access: { operation: "api.template.for_workers", permission: "instance_read" } },
      schema: {
        summary: "List templates for worker groups",
        tags: TAGS,
        params: UserParams,
        response: { 200: AutoscalerAnswer },
      },
    },
    async (request) => {
      const userId = requireOwnId(identityOf(request), request.params.user_id);
      return {
        success: true as const,
        autoscaler: viewEntries(await showLibrary(database.kysely, userId, means), userId),
        recommended: viewAll(await showRecommended(database.kysely, means), userId),
      };
    },
  );
  app.get(
    `${LIBRARY}:hash_id/`,
    {
      config: { access: { operation: "api.template.choices", permission: "instance_read" } },
      schema: {
        summary: "List templates to choose from, with one that was shared by its hash",
        tags: TAGS,
        params: HashParams,
        response: { 200: ChoicesAnswer },
      },
    },
    async (request) => {
      const userId = requireOwnId(identityOf(request), request.params.user_id);
      const { library, shared, popular, recommended } = await showChoices(
        database.kysely,
        userId,
        request.params.hash_id,
        means,
      );
      const entries = viewEntries(library, userId);
      return {
        success: true as const,
        templates: entries,
        referral_templates: viewAll([shared], userId),
        popular: viewAll(popular, userId),
        recommended: viewAll(recommended, userId),
        autoscaler: entries,
      };
    },
  );
}

function writingRoutes({ app, mutate }: HttpScope, means: TemplateMeans): void {
  app.post(
    LIBRARY,
    {
      config: { access: { operation: "api.template.store", permission: "instance_write" } },
      schema: {
        summary: "Create and edit templates of the own library",
        tags: TAGS,
        params: UserParams,
        body: StoreBody,
        response: { 200: LibraryAnswer },
      },
    },
    async (request) => {
      const userId = requireOwnId(identityOf(request), request.params.user_id);
      const { templates: list, is_an_edit: isEdit = false } = request.body;
      return mutate(request, async (tx) => {
        const stored = await storeTemplates(tx, userId, { list, isEdit }, means);
        return { success: true as const, templates: viewEntries(stored, userId) };
      });
    },
  );
  app.delete(
    LIBRARY,
    {
      config: { access: { operation: "api.template.remove", permission: "instance_write" } },
      schema: {
        summary: "Remove a template from the own library",
        tags: TAGS,
        params: UserParams,
        body: TemplateIdBody,
        response: { 200: RemovedAnswer },
      },
    },
    async (request) => {
      const userId = requireOwnId(identityOf(request), request.params.user_id);
      const { template_id: given } = request.body;
      return mutate(request, async (tx) => {
        const done = await removeFromLibrary(tx, userId, given, means);
        const msg = done === "deleted" ? "Template deleted." : "Template removed from your library.";
        return { success: true as const, msg };
      });
    },
  );
  app.post(
    "/api/v0/users/:user_id/template/",
    {
      config: { access: { operation: "api.template.add", permission: "instance_write" } },
      schema: {
        summary: "Add a public template to the own library",
        tags: TAGS,
        params: UserParams,
        body: TemplateIdBody,
        response: { 200: AddedAnswer },
      },
    },
    async (request) => {
      const userId = requireOwnId(identityOf(request), request.params.user_id);
      return mutate(request, async (tx) => {
        await addToLibrary(tx, userId, request.body.template_id);
        return { success: true as const };
      });
    },
  );
}

function recentRoute({ app, database }: HttpScope, means: TemplateMeans): void {
  app.get(
    "/api/v0/template/recent/",
    {
      config: { access: { operation: "api.template.recent", permission: "user_read" } },
      schema: {
        summary: "List templates that the caller rented with",
        tags: TAGS,
        querystring: RecentQuery,
        response: { 200: RecentAnswer },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const { limit, templates } = await showRecent(database.kysely, userId, request.query, means);
      const last = templates.at(-1);
      return {
        success: true as const,
        templates_found: templates.length,
        templates: templates.map((template) => ({
          ...viewTemplate(template, userId),
          last_used_at: template.used_at_seconds,
        })),
        page_size: limit,
        last_page_template_id: last?.id ?? null,
        last_page_last_used_at: last?.used_at_seconds ?? null,
      };
    },
  );
}

function viewAll(templates: readonly Template[], viewerId: UserId): TemplateView[] {
  return templates.map((template) => viewTemplate(template, viewerId));
}

/** Entries of a library, whose id is that of their template: an account has each template once. */
function viewEntries(templates: readonly Template[], viewerId: UserId): TemplateView[] {
  return viewAll(templates, viewerId).map((view) => ({ ...view, user_template_id: view.id }));
}
