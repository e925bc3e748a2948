import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { listMachine } from "../../../../../test/support/hosts/hosting.ts";
import { anotherShop, type Shop } from "../../../../../test/support/money/price-promise.ts";
import { AppError } from "../../../base/errors.ts";
import type { OfferRecord } from "./for-assembly.ts";

const who = fc.constantFrom(0, 1);
const cents = fc.integer({ min: 1, max: 400 });
const terms = fc.record(
  {
    price_gpu: cents.map((value) => value / 100),
    price_disk: cents.map((value) => value / 1000),
    price_inetu: cents.map((value) => value / 10_000),
    price_inetd: cents.map((value) => value / 10_000),
    credit_discount_max: fc.constantFrom(0, 0.2, 0.5),
    duration: fc.constantFrom("1 week", "2 weeks", "3 weeks"),
  },
  { requiredKeys: [] },
);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("search" as const), who, shop: who }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("relist" as const), host: who, terms }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("rent" as const), who, shop: who, nth: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("race" as const), who, shop: who, nth: fc.nat(9), host: who, terms }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("settle" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

type Renter = { readonly caller: TestCaller; seen: ReadonlyMap<number, OfferRecord> };

/** Tolerance of amounts: both sides come from the same integers by way of doubles. */
const HAIR = 1e-9;

test("with searches, listings and rentals in any order, through two servers, nobody pays more than their last search showed", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const hosts = [await world.host({ owner, gpus: 4 }), await world.host({ owner, gpus: 4 })];
  const shops = [await anotherShop(t, world), await anotherShop(t, world)] as const;
  const tally = { rented: 0, refused: 0 };

  const relist = async ({ host, terms: body }: { readonly host: number; readonly terms: object }) => {
    const answer = await listMachine(world, owner, hosts[host]?.machineId ?? 0, { price_min_bid: 0, ...body });
    assert.equal(answer.status, 200, answer.text);
  };
  const rent = async (shop: Shop, { caller, seen }: Renter, nth: number) => {
    const offer = [...seen.values()][nth % Math.max(1, seen.size)];
    if (offer === undefined) return;
    const made = await shop.rent(caller.identity, offer.id).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      assert.equal(error.code, "no_such_ask");
      return undefined;
    });
    tally[made === undefined ? "refused" : "rented"] += 1;
    if (made === undefined) return;
    const { rows } = await world.env.pool.query(
      `select price_nanos_per_hour / 1e9 as dph, storage_nanos_per_gb_month / 1e9 as disk,
         inet_up_nanos_per_gb / 1e9 as up, inet_down_nanos_per_gb / 1e9 as down, end_at from instances where id = $1`,
      [made.new_contract],
    );
    const [paid] = rows;
    assert.ok(Number(paid.dph) <= offer.dph_base + HAIR, `shown ${offer.dph_base}, paid ${paid.dph}`);
    assert.ok(Number(paid.disk) <= offer.storage_cost + HAIR, "the disk became dearer");
    assert.ok(Number(paid.up) <= offer.inet_up_cost + HAIR, "sent traffic became dearer");
    assert.ok(Number(paid.down) <= offer.inet_down_cost + HAIR, "received traffic became dearer");
    assert.ok(paid.end_at.getTime() / 1000 >= offer.end_date - 0.01, "it ends sooner");
    assert.ok((made.dph_base ?? Infinity) <= offer.dph_base + HAIR, "the answer names more than was shown");
  };

  const play = async (steps: readonly Step[]) => {
    const renters: readonly Renter[] = await Promise.all(
      [0, 1].map(async () => ({ caller: await world.caller({ dollars: 100_000 }), seen: new Map() })),
    );
    for (const one of steps) {
      const renter = "who" in one ? renters[one.who] : undefined;
      const shop = shops["shop" in one ? one.shop : 0];
      switch (one.kind) {
        case "search": {
          // No wait here: the answer of this server may be old.
          const found = shop?.search({ rentable: { eq: true }, disable_bundling: true }) ?? [];
          if (renter !== undefined) renter.seen = new Map(found.map((offer) => [offer.id, offer]));
          break;
        }
        case "relist":
          await relist(one);
          break;
        case "rent":
          if (renter !== undefined && shop !== undefined) await rent(shop, renter, one.nth);
          break;
        case "race":
          if (renter !== undefined && shop !== undefined) {
            await Promise.all([relist(one), rent(shop, renter, one.nth)]);
          }
          break;
        case "settle":
          await world.settled();
          for (const each of shops) await each.settled();
          break;
      }
    }
    for (const { caller } of renters) {
      const { rows } = await world.env.pool.query("select id from instances where user_id = $1 and ended_at is null", [
        caller.id,
      ]);
      for (const { id } of rows) {
        const url = `/api/v0/instances/${id}/`;
        assert.equal((await world.call({ method: "DELETE", url, secret: caller.secret })).status, 200);
      }
    }
    for (const host of hosts) await host.obey();
  };

  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 30 }), play), {
    numRuns: 8,
    endOnFailure: true,
  });
  t.diagnostic(JSON.stringify(tally));
  assert.ok(tally.rented > 0 && tally.refused > 0, JSON.stringify(tally));
  await world.assertBooks();
});
