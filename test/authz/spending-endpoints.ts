// The rows of caps on spending and of arrears.
import { randomUUID } from "node:crypto";
import type { TestCaller } from "../support/fixtures.ts";
import { ABSENT, at, onObject, plain, type Row } from "./row.ts";
import type { World } from "./world.ts";

const capOn = (keyId: number | string) =>
  at("/api/v0/caps/", { scope: "key", scope_id: keyId, period: "day", limit: 1 });

async function aKeyOf(world: World, user: TestCaller): Promise<number> {
  return Number((await world.done("POST", at("/api/v0/auth/apikeys/", { name: randomUUID() }), user))["id"]);
}

async function aCap(world: World, user: TestCaller): Promise<number> {
  const { cap } = await world.done("PUT", capOn(await aKeyOf(world, user)), user);
  return (cap as { readonly id: number }).id;
}

export const spendingEndpoints = {
  "GET /api/v0/caps/": plain("billing_read", "/api/v0/caps/"),
  "PUT /api/v0/caps/": onObject("billing_write", "scope_id", aKeyOf, capOn, ABSENT),
  "DELETE /api/v0/caps/{id}/": onObject("billing_write", "id", aCap, (id) => at(`/api/v0/caps/${id}/`)),
  "GET /api/v0/arrears/": plain("billing_read", "/api/v0/arrears/"),
} satisfies Readonly<Record<string, Row>>;
