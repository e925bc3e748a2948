import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { CapScope } from "../ledger/index.ts";
import { lineAmount, type DueLine } from "./lines.ts";
import { payLines } from "./payment.ts";

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

test("neither a balance nor a cap is ever overshot, and what is not paid is stated", () => {
  const means = fc.bigInt({ min: -1_000_000n, max: 8_000_000n });
  const overdraft = fc.bigInt({ min: 0n, max: 2_000_000n });
  const room = fc.option(fc.bigInt({ min: -1_000n, max: 6_000_000n }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), means, overdraft, room, room, (lines, above, below, account, key) => {
      const purse = { aboveZeroNanos: above, aboveFloorNanos: above + below };
      const rooms = new Map<CapScope, bigint>();
      if (account !== undefined) rooms.set("account:7", account);
      if (key !== undefined) rooms.set("key:3", key);
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
      if (least >= due) assert.equal(sum(paid), due, "whoever has enough pays everything");
    }),
  );
});
