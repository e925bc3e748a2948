import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type InstanceId } from "../../../../base/ids.ts";
import { nanos, roundHalfUp } from "../../../../base/money.ts";
import { makeContent, openingOf, type DocumentFacts } from "./rules/document.ts";
import { UNNAMED_SELLER } from "../seller.ts";
import { centsText } from "./rules/sheet.ts";

const CENT = 10_000_000n;
const amounts = fc.bigInt({ min: 0n, max: 10n ** 13n });

const facts: fc.Arbitrary<DocumentFacts> = fc
  .record({
    used: fc.array(fc.record({ amount: amounts, unpaid: fc.constantFrom(0n, 3n), quantity: amounts }), {
      maxLength: 12,
    }),
    moved: fc.array(
      fc.record({
        code: fc.constantFrom("payment", "credit_granted", "credit_transfer", "host_credit"),
        direction: fc.constantFrom("in", "out"),
        amount: amounts,
      }),
      { maxLength: 8 },
    ),
    closingNanos: fc.bigInt({ min: -(10n ** 12n), max: 10n ** 15n }),
    taxPpm: fc.integer({ min: 0, max: 500_000 }),
    // Amounts that early ends took; they are among the movements as well.
    fee: amounts,
    returned: amounts,
    discount: amounts,
  })
  .map(({ used, moved, closingNanos, taxPpm, fee, returned, discount }) => ({
    seller: { ...UNNAMED_SELLER, taxPpm },
    userId: 7,
    user: undefined,
    names: new Map(),
    volumeNames: new Map(),
    gpuModels: new Map(),
    earlyEnds: [
      { code: "fee", instanceId: asId<InstanceId>(1), from: new Date(1), to: new Date(1), amount: nanos(fee) },
      { code: "discount_returned", instanceId: undefined, from: new Date(1), to: new Date(1), amount: nanos(returned) },
    ],
    sums: used.map(({ amount, unpaid, quantity }, index) => ({
      instanceId: asId<InstanceId>(index + 1),
      volumeId: undefined,
      component: "gpu",
      firstLineId: BigInt(index),
      from: new Date(0),
      to: new Date(1),
      lastChargedAt: new Date(1),
      quantity,
      amount: nanos(amount),
      unpaid: nanos(unpaid),
      lowestPrice: nanos(1n),
      highestPrice: nanos(2n),
      highestDiscountPpm: 0,
      discount: index === 0 ? discount : 0n,
      isLate: index === 1,
    })),
    movements: [
      ...moved.map(({ code, direction, amount }) => ({ code, direction, amount: nanos(amount) })),
      { code: "fee", direction: "out", amount: nanos(fee) },
      { code: "refund", direction: "out", amount: nanos(returned) },
    ],
    closingNanos,
  }));

const addUp = (cents: readonly number[]) => cents.reduce((sum, one) => sum + one, 0);

test("all displayed amounts of an invoice add up in whole cents, after any month", () => {
  fc.assert(
    fc.property(facts, fc.constantFrom(1, 2), (given, edition) => {
      const { lines, net_cents: net, tax, total_cents: total, balance } = makeContent(given, edition);
      const ended = edition === 1 ? [] : given.earlyEnds;
      const used = [...given.sums, ...ended].reduce((sum, { amount }) => sum + amount, 0n);
      assert.equal(BigInt(total) * CENT, roundHalfUp(used, CENT));
      assert.equal(addUp(lines.map((line) => line.amount_cents)), total);
      assert.equal(net + tax.amount_cents, total);
      assert.ok(tax.amount_cents >= 0 && net >= 0);
      const moved = addUp(balance.entries.map((entry) => entry.amount_cents));
      assert.equal(balance.opening_cents + moved - balance.usage_cents + balance.rounding_cents, balance.closing_cents);
      assert.ok(Math.abs(balance.rounding_cents) <= 2, "only fractions of a cent are carried on");
      assert.equal(BigInt(balance.closing_nanos), given.closingNanos);
      assert.equal(BigInt(balance.opening_nanos), openingOf(given));
    }),
  );
});

test("the next invoice opens with the displayed closing balance of the one before", () => {
  fc.assert(
    fc.property(facts, facts, (first, second) => {
      const ended = makeContent(first, 1).balance;
      const shift = first.closingNanos - openingOf(second);
      const next = makeContent({ ...second, closingNanos: second.closingNanos + shift }, 2).balance;
      assert.equal(next.opening_nanos, ended.closing_nanos);
      assert.equal(next.opening_cents, ended.closing_cents);
    }),
  );
});

test("cents are written with their dollars, in thousands", () => {
  const written = [0, 5, -5, 100, 123_456, -123_456_789].map(centsText);
  assert.deepEqual(written, ["0.00", "0.05", "-0.05", "1.00", "1,234.56", "-1,234,567.89"]);
});
