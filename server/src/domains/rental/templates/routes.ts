import { invalid } from "../../../base/errors.ts";
import { parseSelectCols } from "../../../base/filters/parse-order.ts";
import type { UserId } from "../../../base/ids.ts";
import { MicroBatcher } from "../../../base/micro-batcher.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { libraryRoutes } from "./library/routes.ts";
import { registryRoutes } from "./registry/routes.ts";
import { TEXT_LENGTHS } from "./rules/content.ts";
import { EXTRA_FILTERS_LENGTH_MAX } from "./rules/extra-filters.ts";
import { isFields } from "./rules/fields.ts";
import {
  DeleteTemplateBody,
  DeletedAnswer,
  EditedTemplateAnswer,
  EditTemplateBody,
  NewTemplateBody,
  ParamsAnswer,
  SearchTemplatesQuery,
  TemplateAnswer,
  TemplatePageAnswer,
  TemplatePageQuery,
  TemplatesAnswer,
} from "./schema.ts";
import { versionRoutes } from "./versions/routes.ts";
import {
  asksForAll,
  createTemplate,
  editTemplate,
  findAllTemplates,
  findTemplatePage,
  findTemplates,
  removeTemplate,
  type TemplateMeans,
} from "./service.ts";
import type { TemplatesFound } from "./store.ts";
import { TEMPLATE_VIEW_FIELDS, pickColumns, viewTemplate } from "./views.ts";

const PATH = "/api/v0/template/";
const PAGED_PATH = "/api/v1/template/";
const TAGS = ["Templates"];
const LISTS_PER_BATCH = 32;

/** Creation, search, change and deletion of templates. */
export function templateRoutes(scope: HttpScope, means: TemplateMeans): void {
  searchRoute(scope, means);
  pageRoute(scope, means);
  createRoute(scope, means);
  editRoute(scope, means);
  deleteRoute(scope, means);
  paramsRoute(scope);
  libraryRoutes(scope, means);
  registryRoutes(scope, means.registries);
  versionRoutes(scope, means);
}

function searchRoute({ app, database }: HttpScope, { encryption }: TemplateMeans): void {
  // Lists without conditions are the ordinary case: those asked for at the same time are read together.
  const lists = new MicroBatcher<UserId, TemplatesFound>({
    maxBatch: LISTS_PER_BATCH,
    run: (viewerIds) => findAllTemplates(database.kysely, viewerIds, encryption),
  });
  app.get(
    PATH,
    {
      config: { access: { operation: "api.template.search", permission: "user_read" } },
      schema: {
        summary: "Search templates: the caller's own and public ones",
        tags: TAGS,
        querystring: SearchTemplatesQuery,
        response: { 200: TemplatesAnswer },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const chosen = parseSelectCols(request.query.select_cols, TEMPLATE_VIEW_FIELDS, "select_cols");
      const { query } = request;
      const isPlain = asksForAll(query);
      const { found, templates } = await (isPlain
        ? lists.submit(userId)
        : findTemplates(database.kysely, userId, query, encryption));
      const views = templates.map((template) => pickColumns(viewTemplate(template, userId), chosen));
      return { success: true as const, templates_found: found, templates: views };
    },
  );
}

function pageRoute({ app, database }: HttpScope, { encryption }: TemplateMeans): void {
  app.get(
    PAGED_PATH,
    {
      config: { access: { operation: "api.template.page", permission: "user_read" } },
      schema: {
        summary: "Search templates page by page",
        tags: TAGS,
        querystring: TemplatePageQuery,
        response: { 200: TemplatePageAnswer },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const { query } = request;
      const chosen = parseSelectCols(query.select_cols, TEMPLATE_VIEW_FIELDS, "select_cols");
      const { templates, nextToken } = await findTemplatePage(database.kysely, userId, query, encryption);
      return {
        success: templates.length > 0,
        ...(templates.length > 0 ? {} : { msg: "No template matches." }),
        templates_found: templates.length,
        templates: templates.map((template) => pickColumns(viewTemplate(template, userId), chosen)),
        next_token: nextToken,
      };
    },
  );
}

function createRoute(scope: HttpScope, means: TemplateMeans): void {
  scope.app.post(
    PATH,
    {
      config: { access: { operation: "api.template.create", permission: "user_write" } },
      // Runs before the schema, so that a body without the two required fields gets the messages of the published
      // contract.
      preValidation: async ({ body }) => requireNameAndImage(body),
      schema: { summary: "Create a template", tags: TAGS, body: NewTemplateBody, response: { 200: TemplateAnswer } },
    },
    async (request) => {
      const { userId } = identityOf(request);
      return scope.mutate(request, async (tx) => {
        const { template, isNew } = await createTemplate(tx, userId, request.body, means);
        const msg = isNew
          ? `Template created. New Template ID: ${template.id}`
          : `You have this template already. Template ID: ${template.id}`;
        return { success: true as const, msg, template: viewTemplate(template, userId) };
      });
    },
  );
}

function editRoute(scope: HttpScope, means: TemplateMeans): void {
  // Newer clients use the second path and send a numeric id as well, which is not needed.
  for (const path of [PATH, PAGED_PATH]) {
    scope.app.put(
      path,
      {
        config: { access: { operation: "api.template.edit", permission: "user_write", isAlias: path !== PATH } },
        schema: {
          summary: "Edit a template",
          tags: TAGS,
          body: EditTemplateBody,
          response: { 200: EditedTemplateAnswer },
        },
      },
      async (request) => {
        const { userId } = identityOf(request);
        return scope.mutate(request, async (tx) => {
          const template = await editTemplate(tx, userId, request.body, means);
          const msg = `Template ${template.id} updated.`;
          return { success: true as const, msg, hash_id: template.hash_id, template: viewTemplate(template, userId) };
        });
      },
    );
  }
}

function deleteRoute(scope: HttpScope, { encryption }: TemplateMeans): void {
  scope.app.delete(
    PATH,
    {
      config: { access: { operation: "api.template.delete", permission: "user_write" } },
      schema: { summary: "Delete a template", tags: TAGS, body: DeleteTemplateBody, response: { 200: DeletedAnswer } },
    },
    async (request) => {
      const { userId } = identityOf(request);
      return scope.mutate(request, async (tx) => {
        await removeTemplate(tx, userId, request.body, encryption);
        return { success: true as const, msg: "Template deleted." };
      });
    },
  );
}

function requireNameAndImage(body: unknown): void {
  for (const field of ["name", "image"]) {
    const value = isFields(body) ? body[field] : undefined;
    if (value === undefined || value === "") throw invalid(field, `Template ${field} is required`);
  }
}

function paramsRoute({ app }: HttpScope): void {
  const limits = { ...TEXT_LENGTHS, extra_filters: EXTRA_FILTERS_LENGTH_MAX };
  app.get(
    "/api/v0/template/params/",
    {
      config: { access: { operation: "api.template.params", permission: "user_read" } },
      schema: { summary: "Show the limits of a template's fields", tags: TAGS, response: { 200: ParamsAnswer } },
    },
    async () => ({ success: true as const, limits }),
  );
}
