import type { HttpScope } from "../../../../http/server.ts";
import type { RegistryClient } from "./client.ts";
import { LoginAnswer, LoginBody, TagsAnswer, TagsBody, TagsQuery } from "./schema.ts";
import { checkLogin, findTags, type ImageAsked } from "./service.ts";

const TAGS = ["Templates"];

/** Questions to registries. They change nothing, so that an Idempotency-Key has nothing to keep. */
export function registryRoutes({ app }: HttpScope, client: RegistryClient): void {
  const show = async (asked: ImageAsked) => {
    const { tags, reason } = await findTags(client, asked);
    const code = "no_tags";
    const trouble = reason === undefined ? {} : { error: code, msg: reason };
    return { success: reason === undefined, tags: [...tags], ...trouble };
  };
  app.post(
    "/api/v1/templates/fetch-tags/",
    {
      config: { access: { operation: "api.template.fetch_tags", permission: "user_read" } },
      schema: { summary: "List the tags of an image", tags: TAGS, body: TagsBody, response: { 200: TagsAnswer } },
    },
    ({ body }) => show(body),
  );
  app.get(
    "/api/v0/docker/tags/",
    {
      config: { access: { operation: "api.template.docker_tags", permission: "misc" } },
      schema: {
        summary: "List the tags of a public image",
        tags: TAGS,
        querystring: TagsQuery,
        response: { 200: TagsAnswer },
      },
    },
    ({ query }) => show(query),
  );
  app.post(
    "/api/v1/templates/validate-auth/",
    {
      config: { access: { operation: "api.template.check_login", permission: "user_read" } },
      schema: { summary: "Check a login at a registry", tags: TAGS, body: LoginBody, response: { 200: LoginAnswer } },
    },
    async ({ body }) => {
      const { isChecked, repositories } = await checkLogin(client, body);
      return { success: true as const, authenticated: isChecked, repositories: [...repositories] };
    },
  );
}
