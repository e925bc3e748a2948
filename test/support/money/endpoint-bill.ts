import assert from "node:assert/strict";
import type { Berth } from "../berth.ts";
import type { Renter } from "../renter.ts";

const DAY_S = 86_400;
const HOUR_MS = 3_600_000n;
const NANOS_DIGITS = 9;

type Line = {
  readonly instance_id: number | null;
  readonly generation: number | null;
  readonly type: string;
  readonly quantity: number;
  readonly amount_exact: string;
};
type Row = { readonly source: string; readonly amount_exact: string; readonly items: readonly Row[] };

/**
 * Each run of these workers is charged for the time that its host counted, at its price and never for more, and the tree
 * of charges shows the same sum under the endpoint. Throws while anything is not charged yet. Returns nano-dollars.
 */
export async function assertBill(
  { berth, renter }: { readonly berth: Berth; readonly renter: Renter },
  endpointId: number,
  workers: readonly number[],
): Promise<bigint> {
  const lines: readonly Line[] = (await renter.done("GET", chargesAs("lines"))).results;
  const own = lines.filter(({ instance_id }) => instance_id !== null && workers.includes(instance_id));
  const runs = await berth.sql(
    `select run.instance_id, run.generation, run.running_ms::text, i.price_nanos_per_hour::text as price
     from instance_runs run join instances i on i.id = run.instance_id where run.instance_id = any($1)`,
    [workers],
  );
  assert.ok(runs.length > 0);
  for (const { instance_id, generation, running_ms, price } of runs) {
    const charged = own.filter(
      (line) => line.instance_id === instance_id && line.generation === generation && line.type === "gpu",
    );
    assert.equal(sum(charged.map(({ quantity }) => BigInt(quantity))), BigInt(String(running_ms)));
    const owed = (BigInt(String(price)) * BigInt(String(running_ms))) / HOUR_MS;
    const amount = sum(charged.map((line) => nanosOf(line.amount_exact)));
    assert.ok(amount <= owed && owed - amount <= BigInt(charged.length), `${amount} of ${owed}`);
  }
  const tree: readonly Row[] = (await renter.done("GET", chargesAs("tree"))).results;
  const days = tree.filter(({ source }) => source === `endpoint-${endpointId}`);
  const groups = days.flatMap(({ items }) => items);
  assert.ok(groups.length > 0 && groups.every(({ source }) => source.startsWith("workergroup-")));
  const shown = groups.flatMap(({ items }) => items.map(({ source }) => source));
  assert.deepEqual([...new Set(shown)].toSorted(), workers.map((id) => `instance-${id}`).toSorted());
  const total = sum(own.map((line) => nanosOf(line.amount_exact)));
  assert.equal(sum(days.map((day) => nanosOf(day.amount_exact))), total);
  return total;
}

/** The path of the charges of all days on which a test may have run. */
function chargesAs(format: "lines" | "tree"): string {
  const nowS = Math.floor(Date.now() / 1000);
  const filters = JSON.stringify({ day: { gte: nowS - DAY_S, lte: nowS + DAY_S } });
  return `/api/v0/charges/?format=${format}&limit=500&select_filters=${encodeURIComponent(filters)}`;
}

function nanosOf(dollars: string): bigint {
  const [whole = "0", fraction = ""] = dollars.split(".");
  return BigInt(whole + fraction.padEnd(NANOS_DIGITS, "0"));
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
