import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { CapScope } from "../../ledger/index.ts";
import { lineAmount, type DueLine } from "../lines/lines.ts";
import { payLines, type Room } from "./payment.ts";

const line = fc
  .record({
    component: fc.constantFrom("gpu" as const, "disk" as const),
    quantity: fc.bigInt({ min: 0n, max: 3_600_000n }),
  })
  .map(({ component, quantity }): DueLine => ({
    component,
    quantity,
    generation: component === "gpu" ? 1 : undefined,
    sizeBytes: component === "gpu" ? undefined : 720_000_000_000n,
    unitPriceNanos: 3_600_000n,
    discountPpm: 0,
    state: "running",
    cause: "container_running",
    fromMs: 0,
    toMs: Number(quantity),
    paidFrom: "credit",
    key: `${component} ${quantity}`,
  }));
const scopes = ["account:7", "key:3"] as const satisfies readonly CapScope[];

/** A cap that has held since before the first charge, and leaves this amount. */
function roomOf(nanosLeft: bigint): Room {
  return { holdsFromMs: -1, nanos: nanosLeft, beforeNanos: undefined, heldNanos: 0n };
}

const means = fc.bigInt({ min: -1_000_000n, max: 8_000_000n });

test("payments exceed neither a balance nor a cap, and unpaid amounts are stated", () => {
  const overdraft = fc.bigInt({ min: 0n, max: 2_000_000n });
  const room = fc.option(fc.bigInt({ min: -1_000n, max: 6_000_000n }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), means, overdraft, room, room, (lines, above, below, account, key) => {
      const purse = { aboveZeroNanos: above, aboveMinimumNanos: above + below };
      const rooms = new Map<CapScope, Room[]>();
      if (account !== undefined) rooms.set("account:7", [roomOf(account)]);
      if (key !== undefined) rooms.set("key:3", [roomOf(key)]);
      const paid = payLines(lines, { purse, rooms, scopes });
      const sum = (of: typeof paid) => of.reduce((total, { amountNanos }) => total + amountNanos, 0n);
      for (const one of paid) assert.equal(one.amountNanos + one.unpaidNanos, lineAmount(one));
      assert.equal(purse.aboveZeroNanos, above - sum(paid));
      const running = sum(paid.filter(({ component }) => component === "gpu"));
      assert.ok(running === 0n || running <= above, "running never brings credit below zero");
      assert.ok(sum(paid) === 0n || sum(paid) <= above + below, "storage never brings it below its floor");
      for (const limit of [account, key]) {
        if (limit !== undefined) assert.ok(sum(paid) === 0n || sum(paid) <= limit);
      }
      const due = lines.reduce((total, one) => total + lineAmount(one), 0n);
      const least = [above, account ?? due, key ?? due].reduce((low, value) => (value < low ? value : low));
      if (least >= due) assert.equal(sum(paid), due, "a payer with enough credit pays everything");
    }),
  );
});

test("a limit bounds only time from its start on; the limit before it bounds earlier time", () => {
  const limit = fc.bigInt({ min: -1_000n, max: 6_000_000n });
  const before = fc.option(fc.bigInt({ min: 0n, max: 6_000_000n }), { nil: undefined });
  const cut = fc.integer({ min: -10, max: 3_600_010 });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), limit, before, cut, cut, (given, present, more, first, second) => {
      const lines = given.map((one, index) => ({ ...one, key: `${one.component}:${index}:0-${one.quantity}` }));
      const beforeNanos = more === undefined ? undefined : present + more;
      const rich = 1_000_000_000n;
      const purse = { aboveZeroNanos: rich, aboveMinimumNanos: rich };
      const rooms = new Map<CapScope, Room[]>([
        ["account:7", [{ holdsFromMs: first, nanos: present, beforeNanos, heldNanos: 0n }]],
        ["key:3", [{ holdsFromMs: second, nanos: rich, beforeNanos: undefined, heldNanos: 0n }]],
      ]);
      const paid = payLines(lines, { purse, rooms, scopes });
      const early = paid.filter(({ fromMs }) => fromMs < first);
      for (const one of paid) {
        for (const ms of [first, second]) assert.ok(one.toMs <= ms || one.fromMs >= ms, "no part lies on both sides");
        assert.equal(one.amountNanos + one.unpaidNanos, lineAmount(one));
      }
      const sum = (of: typeof paid) => of.reduce((total, { amountNanos }) => total + amountNanos, 0n);
      if (beforeNanos === undefined) assert.ok(early.every(({ unpaidNanos }) => unpaidNanos === 0n));
      else assert.ok(sum(early) === 0n || sum(early) <= beforeNanos);
      const late = sum(paid.filter(({ fromMs }) => fromMs >= first));
      assert.ok(late === 0n || late <= present, "what is spent from then on is within the limit");
      // Cutting neither loses nor doubles any amount.
      for (const one of lines) {
        const name = one.key.slice(0, one.key.lastIndexOf(":"));
        const parts = paid.filter(({ key }) => key.startsWith(`${name}:`));
        assert.equal(
          parts.reduce((total, { quantity }) => total + quantity, 0n),
          one.quantity,
        );
        assert.deepEqual([parts[0]?.fromMs, parts.at(-1)?.toMs], [one.fromMs, one.toMs]);
        assert.equal(new Set(parts.map(({ key }) => key)).size, parts.length);
      }
    }),
  );
});
