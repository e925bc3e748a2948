import { epochSeconds } from "../../../../base/clock.ts";
import { readPageToken, writePageToken, type PagedList } from "../../../../base/filters/page-token.ts";
import { parseId, type TemplateId } from "../../../../base/ids.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { changesBetween } from "../rules/version-changes.ts";
import { noSuchTemplate, type TemplateMeans } from "../service.ts";
import { TemplatePath, TemplateVersions, VersionsQuery } from "./schema.ts";
import { findOwn, listVersions } from "./store.ts";

const LIMIT_DEFAULT = 20;
const PAGES = { name: "template versions", types: ["time", "text"] } as const satisfies PagedList;

/** Versions of a template, with the difference between each and the one before. */
export function versionRoutes({ app, database }: HttpScope, { encryption }: Pick<TemplateMeans, "encryption">): void {
  app.get(
    "/api/v0/template/:id/versions/",
    {
      config: { access: { operation: "api.template.versions", permission: "user_read" } },
      schema: {
        summary: "Show the versions of a template and what changed between them",
        tags: ["Templates"],
        params: TemplatePath,
        querystring: VersionsQuery,
        response: { 200: TemplateVersions },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const { limit = LIMIT_DEFAULT, after_token: token } = request.query;
      const place = readPageToken(PAGES, token);
      const id = parseId<TemplateId>(request.params.id);
      const current = id && (await findOwn(database.kysely, userId, id));
      if (id === undefined || current === undefined) {
        throw noSuchTemplate("id");
      }
      const after = place && { madeAt: new Date(place[0]), hashId: place[1] };
      // One more than a page: the oldest of the page is compared with it.
      const found = await listVersions(
        database.kysely,
        { id, creatorId: userId },
        { limit: limit + 1, after },
        encryption,
      );
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const hasMore = found.length > limit && last !== undefined;
      return {
        success: true as const,
        template_id: id,
        versions: page.map((version, index) => ({
          hash_id: version.hashId,
          made_at: epochSeconds(version.madeAt),
          is_current: version.hashId === current,
          is_readable: version.content !== undefined,
          changes: changesBetween(found[index + 1], version).map((change) => ({ ...change })),
        })),
        next_token: hasMore ? writePageToken(PAGES, [last.madeAt.getTime(), last.hashId]) : null,
      };
    },
  );
}
