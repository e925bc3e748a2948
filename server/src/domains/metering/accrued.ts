import type { InstanceId, UserId } from "../../base/ids.ts";
import { nanos, type Nanos } from "../../base/money.ts";
import type { Reader } from "../../db/transaction.ts";
import { findBillable, listBillablesOf, listOpenRuns, scopesOf, type BillableRun } from "../instances/index.ts";
import { listCaps } from "../ledger/index.ts";
import { billOf, loadFacts, type InstanceFacts } from "./facts.ts";
import { lineAmount } from "./lines.ts";
import { payLines, type Rooms } from "./payment.ts";
import { listVolumeAccruals } from "./volume-settlement.ts";

/**
 * What a user's credit would be charged if everything of his were settled now: for what hosts have counted, and for the
 * time since, as far as they were last heard to be running it. Up to the last report that is exactly what will be
 * charged, if there is enough; what deposits pay is no part of it, nor what caps do not bear.
 */
export async function accruedOf(db: Reader, now: Date, userId: UserId): Promise<Nanos> {
  const instances = await listBillablesOf(db, userId);
  const runs = await listOpenRuns(
    db,
    instances.map(({ id }) => id),
  );
  const accruals = [...(await listVolumeAccruals(db, now, userId))];
  for (const facts of await loadFacts(db, instances, runs)) {
    const { lines } = billOf({ ...facts, runs: facts.runs.map((run) => upToNow(run, facts)) }, now);
    accruals.push({ lines: lines.filter(({ paidFrom }) => paidFrom === "credit"), scopes: scopesOf(facts.instance) });
  }
  const rooms = await roomsOf(db, now, userId);
  const all = accruals.flatMap(({ lines }) => lines).reduce((total, line) => total + lineAmount(line), 0n);
  if (rooms.size === 0) return nanos(all);
  const purse = { aboveZeroNanos: all, aboveFloorNanos: all };
  const paid = accruals.flatMap(({ lines, scopes }) => payLines(lines, { purse, rooms, scopes }));
  return nanos(paid.reduce((total, { amountNanos }) => total + amountNanos, 0n));
}

/** What the caps of an account bear besides what was charged; what is held is for what accrues. */
async function roomsOf(db: Reader, now: Date, userId: UserId): Promise<Rooms> {
  const rooms: Rooms = new Map();
  for (const { scope, limit, spent } of await listCaps(db, userId, now)) {
    const room = limit - spent;
    const known = rooms.get(scope);
    if (known === undefined || room < known) rooms.set(scope, room);
  }
  return rooms;
}

/** What a deposit has paid by now and nobody has posted: what is left of it then, and what its discount saved. */
export type DepositAccrual = { readonly leftNanos: bigint; readonly savedNanos: bigint; readonly isSpent: boolean };

/** The same for the deposit of one instance; undefined where it has paid nothing since. */
export async function depositAccrualOf(
  db: Reader,
  now: Date,
  instanceId: InstanceId,
): Promise<DepositAccrual | undefined> {
  const instance = await findBillable(db, instanceId);
  if (instance === undefined) return undefined;
  const [facts] = await loadFacts(db, [instance], await listOpenRuns(db, [instanceId]));
  return facts && billOf({ ...facts, runs: facts.runs.map((run) => upToNow(run, facts)) }, now).use;
}

/** A run with the time since its last count, for one whose host said that it runs and was heard since. */
function upToNow(run: BillableRun, { instance, machine }: InstanceFacts): BillableRun {
  const isPresent = run.generation === instance.generation && run.generation === instance.observedGeneration;
  if (!isPresent || run.isSealed || instance.observedState !== "running" || run.meteredFromAt === undefined) return run;
  const sinceMs = Math.min(machine.lastSeenAt.getTime(), instance.endAt.getTime()) - run.lastCountedAt.getTime();
  return sinceMs <= 0 ? run : { ...run, runningMs: run.runningMs + BigInt(sinceMs) };
}
