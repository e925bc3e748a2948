import { epochSeconds } from "../../../../base/clock.ts";
import { invalid, notFound } from "../../../../base/errors.ts";
import { parseId, type SavedSearchId } from "../../../../base/ids.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { requireRoom } from "../room.ts";
import { ACCOUNT_TAGS } from "../route-ports.ts";
import { DeleteSearchAnswer, SavedSearches, SavedSearchPath, SaveSearchAnswer, SaveSearchBody } from "./schema.ts";
import {
  countOtherSearches,
  deleteSavedSearch,
  listSavedSearches,
  upsertSavedSearch,
  type SavedSearch,
} from "./store.ts";

const PATH = "/api/v0/users/saved-searches/";
const SEARCHES_MAX = 100;

/** Searches for offers that the caller keeps, with the columns that they are looked at in. */
export function savedSearchRoutes(scope: HttpScope): void {
  const { app, database, mutate } = scope;
  app.get(
    PATH,
    {
      config: { access: { operation: "api.saved_search.list", permission: "user_read" } },
      schema: { tags: ACCOUNT_TAGS, summary: "Show own saved searches", response: { 200: SavedSearches } },
    },
    async (request) => {
      const found = await listSavedSearches(database.kysely, identityOf(request));
      return { success: true as const, saved_searches: found.map(view) };
    },
  );
  app.post(
    PATH,
    {
      config: { access: { operation: "api.saved_search.save", permission: "user_write" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Save a search for offers",
        body: SaveSearchBody,
        response: { 200: SaveSearchAnswer },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const identity = identityOf(request);
        const { query, columns = [] } = request.body;
        const name = request.body.name.trim();
        if (name === "") throw invalid("name", "name must not be blank");
        for (const [field, text] of Object.entries({ name, query, columns: columns.join("") })) {
          if (text.includes("\0") || !text.isWellFormed()) throw invalid(field, `${field} must be text without NUL`);
        }
        const count = () => countOtherSearches(tx.db, identity, name);
        await requireRoom(tx, identity.userId, { count, max: SEARCHES_MAX, field: "name", what: "saved searches" });
        return {
          success: true as const,
          saved_search: view(await upsertSavedSearch(tx, identity, { name, query, columns })),
        };
      }),
  );
  deleteRoute(scope);
}

function deleteRoute({ app, mutate }: HttpScope): void {
  app.delete(
    `${PATH}:id/`,
    {
      config: { access: { operation: "api.saved_search.delete", permission: "user_write" } },
      schema: {
        tags: ACCOUNT_TAGS,
        summary: "Delete a saved search",
        params: SavedSearchPath,
        response: { 200: DeleteSearchAnswer },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const id = parseId<SavedSearchId>(request.params.id);
        if (id === undefined || !(await deleteSavedSearch(tx, identityOf(request), id))) {
          throw notFound("no_such_saved_search", "You have no saved search of this id.", { extra: { field: "id" } });
        }
        return { success: true as const };
      }),
  );
}

function view({ created_at: createdAt, updated_at: updatedAt, columns, ...search }: SavedSearch) {
  return {
    ...search,
    columns: [...columns],
    created_at: epochSeconds(createdAt),
    updated_at: epochSeconds(updatedAt),
  };
}
