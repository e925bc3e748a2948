import type { HttpScope } from "./server.ts";
import { renderApiPage } from "./docs-page.ts";

/** `GET /openapi.json`, made from the schemas of the routes, and the same as a page for people at `/docs`. */
export function registerDocs({ app }: HttpScope): void {
  let page: string | undefined;
  app.get(
    "/openapi.json",
    { config: { access: { operation: "api.docs.openapi", permission: "public" } }, schema: { hide: true } },
    async () => app.swagger(),
  );
  app.get(
    "/docs",
    { config: { access: { operation: "api.docs.page", permission: "public" } }, schema: { hide: true } },
    async (_request, reply) => {
      page ??= renderApiPage(app.swagger());
      return reply.type("text/html; charset=utf-8").send(page);
    },
  );
}
