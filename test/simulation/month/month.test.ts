// The month of month.ts, held against a model that adds up seconds, and against everything that shows it to anybody.
import assert from "node:assert/strict";
import { test } from "node:test";
import { creditFor, rentalCost, volumeCost } from "./oracle.ts";
import { named } from "./actions.ts";
import { playMonth } from "./month.ts";
import {
  COMPONENTS,
  rowsOf,
  numberOf,
  linesOf,
  assertCharged,
  inFull,
  SPENT_BY_BEN,
  CAPPED_DAY,
  assertUsedUp,
  assertRefund,
  assertEarned,
  assertStated,
  assertCredited,
  assertShown,
} from "./checks.ts";

test("a month of rents, bids, stops, an outage, a cap, a refund and payouts", async (t) => {
  const month = await playMonth(t);
  const { world, people, rentals, volumes, outages } = month;

  await t.test("leaves books in which an audit finds nothing at any time, and no alarm", async () => {
    assert.ok(month.audits.length >= 8);
    assert.deepEqual(
      month.audits.flatMap(({ differences }) => differences),
      [],
    );
    assert.ok(month.audits.every(({ isSound }) => isSound));
    assert.deepEqual(world.complaints, []);
    const below = await rowsOf(month, "select kind from ledger_accounts where balance_nanos < floor_nanos");
    assert.deepEqual(below, []);
    assert.equal(await numberOf(month, "select sum(balance_nanos) as sum from ledger_accounts"), 0n);
  });

  await t.test("charges each instance what its seconds and bytes cost", async () => {
    assert.equal(rentals.length, 6);
    for (const rental of rentals) {
      const lines = await linesOf(month, "instance_id", rental.id);
      for (const component of COMPONENTS) {
        const own = lines.filter((line) => line.component === component);
        assertCharged(`${component} of ${rental.label}`, own, rentalCost(rental, component, outages, inFull));
      }
    }
  });

  await t.test("charges on each line of time what its own seconds cost, rounded down", async () => {
    for (const rental of rentals) {
      for (const line of await linesOf(month, "instance_id", rental.id)) {
        if (line.component !== "gpu" && line.component !== "disk") continue;
        const window = { fromMs: line.from_at.getTime(), untilMs: line.to_at.getTime() };
        const { above, below } = rentalCost(rental, line.component, outages, window);
        assert.equal(line.amount + line.unpaid, above / below, `${rental.label} from ${line.from_at.toISOString()}`);
      }
    }
  });

  await t.test("charges volumes as long as they and their hosts are there", async () => {
    for (const volume of volumes) {
      const lines = await linesOf(month, "volume_id", volume.id);
      assertCharged(`volume ${volume.id}`, lines, volumeCost(volume, outages, inFull));
    }
  });

  await t.test("leaves no run unpaid: a renter who ran out was stopped before", async () => {
    const where = "component <> 'disk' or instance_id is null";
    assert.equal(await numberOf(month, `select sum(unpaid_nanos) as sum from charge_lines where ${where}`), 0n);
  });

  await t.test("takes for what is stored all that the balance and the cap bore, and nothing more", async () => {
    const [sweep, paper] = [named(rentals, "sweep"), named(rentals, "paper")];
    await assertUsedUp(month, sweep, SPENT_BY_BEN);
    await assertUsedUp(month, paper, CAPPED_DAY);
    const others = await numberOf(
      month,
      "select sum(unpaid_nanos) as sum from charge_lines where instance_id <> all ($1::integer[])",
      [[sweep.id, paper.id]],
    );
    assert.equal(others, 0n);
  });

  await t.test(
    "gives back the last ten minutes before the outage, and a deposit less the discount and its fee",
    async () => {
      const [outage] = outages;
      assert.ok(outage);
      for (const rental of rentals) {
        const { above, below } = creditFor(rental, outages, outage);
        const given = await numberOf(
          month,
          "select sum(amount_nanos) as sum from ledger_transfers where code = 'host_credit' and cause ->> 'instance_id' = $1",
          [rental.id],
        );
        assert.ok(above - given * below >= 0n && above - given * below <= 2n * below, `${rental.label}: ${given}`);
      }
      await assertRefund(month);
    },
  );

  await t.test("pays hosts what renters paid, less the fee", async () => {
    for (const host of [people.harbour, people.northlight]) await assertEarned(month, host);
    for (const host of [people.harbour, people.northlight]) await assertStated(month, host);
  });

  for (const person of [people.ada, people.ben, people.dora, people.lab]) {
    await t.test(`shows ${person.name} the same everywhere, to the cent`, async () => {
      await assertShown(month, person);
      await assertCredited(month, person);
    });
  }
});
