import { asId, type ApiKeyId, type UserId } from "../../../base/ids.ts";
import { inSnapshot } from "../../../db/transaction.ts";
import type { HttpScope } from "../../../http/server.ts";
import { isSet, LIMIT_DEFAULT, listByIds, pageOf, placeOf } from "./query.ts";
import { UserParams, UserResponse, UsersQuery, UsersResponse } from "./user-schema.ts";
import { listAccounts, readAccount } from "./user-service.ts";
import { viewAccount, viewAccountRecord } from "./user-views.ts";

const TAGS = ["Administration"];
const LIST = listByIds("admin_users");

/** Routes by which administrators find accounts. */
export function userRoutes({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/admin/users/",
    {
      config: { access: { operation: "api.admin.users", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Find accounts of people and teams",
        querystring: UsersQuery,
        response: { 200: UsersResponse },
      },
    },
    async ({ query }) => {
      const { limit = LIMIT_DEFAULT, q: text, key_id: keyId } = query;
      const search = {
        ...{ text, keyId: keyId === undefined ? undefined : asId<ApiKeyId>(keyId) },
        ...{ isFrozen: isSet(query.frozen), isAdmin: isSet(query.admin), isTeam: isSet(query.team) },
        beforeId: placeOf<UserId>(LIST, query.after_token),
        limit: limit + 1,
      };
      const rows = await inSnapshot(database, (db) => listAccounts(db, search));
      const { page, nextToken } = pageOf(
        LIST,
        rows.map((row) => ({ ...row, id: row.user.id })),
        limit,
      );
      return { success: true as const, users: page.map(viewAccount), next_token: nextToken };
    },
  );

  app.get(
    "/api/v0/admin/users/:id/",
    {
      config: { access: { operation: "api.admin.user.show", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Show the record of one account",
        params: UserParams,
        response: { 200: UserResponse },
      },
    },
    async ({ params }) => {
      const id = asId<UserId>(params.id);
      const account = await inSnapshot(database, (db) => readAccount(db, clock.now(), id));
      return { success: true as const, account: viewAccountRecord(account) };
    },
  );
}
