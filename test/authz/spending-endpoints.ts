// The rows of caps on spending, of arrears, and of price increases.
import { randomUUID } from "node:crypto";
import type { TestCaller } from "../support/fixtures.ts";
import { ABSENT, at, onObject, plain, type Row } from "./row.ts";
import { anInstance, type World } from "./world.ts";

const capOn = (keyId: number | string) =>
  at("/api/v0/caps/", { scope: "key", scope_id: keyId, period: "day", limit: 1 });

async function aKeyOf(world: World, user: TestCaller): Promise<number> {
  return Number((await world.done("POST", at("/api/v0/auth/apikeys/", { name: randomUUID() }), user))["id"]);
}

async function aCap(world: World, user: TestCaller): Promise<number> {
  const { cap } = await world.done("PUT", capOn(await aKeyOf(world, user)), user);
  return (cap as { readonly id: number }).id;
}

/** A host's request to this renter for a higher price at the end of the contract. */
async function aPriceIncrease(world: World, user: TestCaller): Promise<number> {
  const id = (await anInstance(world, user)).id;
  const { rows } = await world.database.pool.query<{ id: number }>(
    `insert into pending_price_increases (instance_id, host_id, price_nanos_per_hour, storage_nanos_per_gb_month,
       inet_up_nanos_per_gb, inet_down_nanos_per_gb, end_at, created_at)
     select i.id, m.host_id, 1, 1, 1, 1, i.end_at + interval '1 day', now()
     from instances i join machines m on m.id = i.machine_id where i.id = $1 returning id`,
    [id],
  );
  return rows[0]!.id;
}

const answerIncrease = (verb: "accept" | "reject"): Row =>
  onObject("instance_write", "pending_price_increase_id", aPriceIncrease, (id) =>
    at(`/api/v0/instances/${verb}-price-increase/`, { pending_price_increase_id: id }),
  );

export const spendingEndpoints = {
  "GET /api/v0/instances/pending-price-increases/": plain(
    "instance_read",
    "/api/v0/instances/pending-price-increases/",
  ),
  "PUT /api/v0/instances/accept-price-increase/": answerIncrease("accept"),
  "PUT /api/v0/instances/{id}/accept-price-increase/": onObject(
    "instance_write",
    "id",
    async (world, user) => {
      await aPriceIncrease(world, user);
      const { rows } = await world.database.pool.query<{ instance_id: number }>(
        "select instance_id from pending_price_increases order by id desc limit 1",
      );
      return rows[0]!.instance_id;
    },
    (id) => at(`/api/v0/instances/${id}/accept-price-increase/`),
  ),
  "PUT /api/v0/instances/reject-price-increase/": answerIncrease("reject"),
  "GET /api/v0/caps/": plain("billing_read", "/api/v0/caps/"),
  "PUT /api/v0/caps/": onObject("billing_write", "scope_id", aKeyOf, capOn, ABSENT),
  "DELETE /api/v0/caps/{id}/": onObject("billing_write", "id", aCap, (id) => at(`/api/v0/caps/${id}/`)),
  "GET /api/v0/arrears/": plain("billing_read", "/api/v0/arrears/"),
} satisfies Readonly<Record<string, Row>>;
