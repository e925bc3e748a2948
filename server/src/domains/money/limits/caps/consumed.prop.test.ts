import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { assertLines, linesOf, settleNow } from "../../../../../../test/support/money/charges.ts";
import { listedHost } from "../../../../../../test/support/money/contracts.ts";
import { destroy, rentAndRun, setState } from "../../../../../../test/support/rentals.ts";

const MINUTE_MS = 60_000;
const DOLLARS_PER_HOUR = 3;

/** The events of one minute. The host reports late at times, but always within its heartbeat lease. */
const step = fc.record({
  passMs: fc.integer({ min: 1, max: MINUTE_MS }),
  isReported: fc.boolean(),
  isSettled: fc.boolean(),
  change: fc.option(
    fc.oneof(
      fc.record({
        kind: fc.constant("put" as const),
        scope: fc.constantFrom("account" as const, "instance" as const),
        period: fc.constantFrom("day" as const, "total" as const),
        limit: fc.constantFrom(0, 0.01, 0.2, 0.6, 1, 50),
      }),
      fc.record({ kind: fc.constant("remove" as const), index: fc.nat(3) }),
      fc.record({ kind: fc.constant("start" as const) }),
    ),
    { freq: 2 },
  ),
});

type Cap = { readonly id: number; readonly spent: number; readonly limit: number; readonly holds_from: number };

async function listCaps(world: TestApp, secret: string): Promise<readonly Cap[]> {
  return (await world.call({ url: "/api/v0/caps/", secret })).body.caps;
}

/** After the limit holds, nothing is spent beyond it: only earlier use may exceed it. */
function assertHeld(before: readonly Cap[], after: readonly Cap[], nowMs: number): void {
  for (const cap of after) {
    const known = before.find(({ id }) => id === cap.id);
    const isSame = known?.limit === cap.limit && known.holds_from === cap.holds_from;
    if (!isSame || cap.spent <= Math.max(cap.limit, known.spent)) continue;
    const lateMs = nowMs - cap.holds_from * 1000;
    assert.ok(lateMs <= 10 * MINUTE_MS, `cap ${cap.id} of ${cap.limit} spent ${known.spent}, then ${cap.spent}`);
  }
}

test("with any caps set, lowered and removed, all use is paid, and no cap is exceeded by time in which it held", async (t) => {
  const world = await testApp(t);
  const property = fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
    const host = await listedHost(world, { dollarsPerHour: DOLLARS_PER_HOUR });
    const user = await world.caller();
    const id = await rentAndRun(world, user, host);
    let unreportedMs = 0;
    for (const { passMs, isReported, isSettled, change } of steps) {
      const before = await listCaps(world, user.secret);
      world.clock.jump(passMs);
      unreportedMs += passMs;
      if (change?.kind === "put") {
        const { scope, period, limit } = change;
        const scopeId = scope === "account" ? user.id : id;
        const body = { scope, scope_id: scopeId, period, limit };
        const answer = await world.call({ method: "PUT", url: "/api/v0/caps/", secret: user.secret, body });
        assert.equal(answer.status, 200, answer.text);
      } else if (change?.kind === "remove") {
        const cap = before[change.index];
        if (cap !== undefined)
          await world.call({ method: "DELETE", url: `/api/v0/caps/${cap.id}/`, secret: user.secret });
      } else if (change?.kind === "start") await setState(world, user, id, "running");
      if (isReported || unreportedMs > 4 * MINUTE_MS) {
        await host.count();
        unreportedMs = 0;
      }
      if (isSettled) await settleNow(world);
      else await world.runLoop("settle-runs");
      assertHeld(before, await listCaps(world, user.secret), world.clock.now().getTime());
    }
    await destroy(world, user, id);
    await host.obey();
    await settleNow(world);
    const lines = (await linesOf(world, id)).filter(({ component }) => component === "gpu");
    const { rows } = await world.env.pool.query<{ ran: bigint }>(
      "select sum(running_ms)::bigint as ran from instance_runs where instance_id = $1",
      [id],
    );
    const sum = (of: "quantity" | "amount_nanos" | "unpaid_nanos") => lines.reduce((all, line) => all + line[of], 0n);
    assert.deepEqual([sum("quantity"), sum("unpaid_nanos")], [rows[0]?.ran ?? 0n, 0n]);
    const due = (sum("quantity") * BigInt(DOLLARS_PER_HOUR) * 1_000_000_000n) / 3_600_000n;
    assert.ok(due - sum("amount_nanos") <= BigInt(lines.length), "each line is rounded down once");
    await host.disconnect();
  });
  await fc.assert(property, { numRuns: 5 });
  await assertLines(world);
  await world.assertBooks();
});
