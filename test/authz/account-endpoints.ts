// The rows of subaccounts, settings and the audit log.
import { randomUUID } from "node:crypto";
import type { TestCaller } from "../support/fixtures.ts";
import { at, onObject, onUser, plain, type Row } from "./row.ts";
import type { World } from "./world.ts";

/** A subaccount of the user, whose key may do what the rows of this file need, and no more. */
async function aSubaccount(world: World, user: TestCaller): Promise<number> {
  const body = { email: `${randomUUID()}@example.com`, username: "sub", password: "correct horse", parent_id: "me" };
  const id = Number((await world.done("POST", at("/api/v0/users/", body), user))["id"]);
  await world.database.pool.query(
    `update api_keys set permissions = '{"api": {"user_write": {}}}' where user_id = $1`,
    [id],
  );
  return id;
}

export const accountEndpoints = {
  "GET /api/v0/subaccounts/": plain("user_read", "/api/v0/subaccounts/"),
  "PUT /api/v0/subaccounts/regenerate_keys/": onObject("user_write", "subaccount_user_id", aSubaccount, (id) =>
    at("/api/v0/subaccounts/regenerate_keys/", { subaccount_user_id: id }),
  ),
  "GET /api/v0/users/{user_id}/settings/": onUser("user_read", (id) => `/api/v0/users/${id}/settings/`),
  "GET /api/v1/audit_logs/": plain("misc", "/api/v1/audit_logs/?limit=5"),
  "GET /api/v0/audit_log_filters/": plain("misc", "/api/v0/audit_log_filters/"),
  "GET /api/v0/audit_logs/": plain("misc", "/api/v0/audit_logs/"),
} satisfies Readonly<Record<string, Row>>;
