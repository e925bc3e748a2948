import type { MachineId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { postNotifications, type Notification } from "../../../notifications/index.ts";
import { notifyMarket } from "../market-channel-store.ts";
import { noteFailure, RENTER_COUNTS_EVERY_MS, type Breaker } from "./rules/breaker.ts";
import {
  countBegunStarts,
  insertFailedStarts,
  listKnownFailures,
  listSuspects,
  setBreaker,
  startKey,
  type NotedFailure,
  type SuspectMachine,
  type TriedStart,
} from "./start-store.ts";

export type FailedStart = TriedStart & {
  /** What the host gave as its reason. */
  readonly reason: string;
};

const REASON_LENGTH_MAX = 1_000;
/** An agent that has just connected has had no time to answer. */
const ANSWER_MS = 60_000;

/** Notes that runs began. The caller holds the machines' locks, and tells each run once. */
export async function recordBegunStarts(tx: Tx, starts: readonly TriedStart[]): Promise<void> {
  await countBegunStarts(tx, starts);
}

/**
 * Notes runs that did not begin by their machines' own fault, each once however often it is told, and lets a machine rest
 * when that is enough. What hosts start for themselves is their own affair. The caller holds the machines' locks.
 */
export async function recordFailedStarts(tx: Tx, starts: readonly FailedStart[]): Promise<void> {
  await note(tx, starts, () => true);
}

/** The same for runs whose time is over although nothing was heard of them: no fault of a machine that was away. */
export async function recordUnansweredStarts(tx: Tx, starts: readonly FailedStart[]): Promise<void> {
  await note(tx, starts, ({ connectedSince }) => {
    return connectedSince !== undefined && tx.now.getTime() - connectedSince.getTime() >= ANSWER_MS;
  });
}

async function note(
  tx: Tx,
  starts: readonly FailedStart[],
  isItsFault: (machine: SuspectMachine) => boolean,
): Promise<void> {
  if (starts.length === 0) return;
  const known = await listKnownFailures(tx.db, starts);
  const fresh = starts.filter((start) => !known.has(startKey(start)));
  if (fresh.length === 0) return;
  const byMachine = Map.groupBy(fresh, (start) => start.machineId);
  const suspects = await listSuspects(tx, [...byMachine.keys()], RENTER_COUNTS_EVERY_MS);
  const noted: NotedFailure[] = [];
  const resting: MachineId[] = [];
  const notifications: Notification[] = [];
  for (const [id, machine] of suspects) {
    const own = (byMachine.get(id) ?? []).filter(({ renterId }) => renterId !== machine.hostId);
    if (own.length === 0 || !isItsFault(machine)) continue;
    const judged = judge(machine, own, tx.now);
    noted.push(...judged.failures);
    await setBreaker(tx, id, judged.breaker);
    if (judged.breaker.restCount === machine.restCount) continue;
    resting.push(id);
    notifications.push(restNotification(id, machine.hostId, judged));
  }
  await insertFailedStarts(tx, noted);
  await postNotifications(tx, notifications);
  if (resting.length > 0) await notifyMarket(tx, resting);
}

function restNotification(
  id: MachineId,
  hostId: UserId,
  { breaker, failures }: ReturnType<typeof judge>,
): Notification {
  const until = breaker.restsUntil?.toISOString().slice(0, 16).replace("T", " ");
  return {
    userId: hostId,
    kind: "host:machine_error",
    subject: `Machine ${id} fails to start instances`,
    message: `Starts on machine ${id} failed one after the other, so it is off the market until ${until} UTC. The last reason was: ${failures.at(-1)?.reason}`,
    key: `host:machine_error:${id}:${breaker.restsUntil?.getTime()}`,
  };
}

function judge(machine: SuspectMachine, starts: readonly FailedStart[], at: Date) {
  let breaker: Breaker = machine;
  const earlier = [...machine.failures];
  const failures = starts.map(({ renterId, reason, ...start }): NotedFailure => {
    const judged = noteFailure(breaker, earlier, { renterId, at });
    breaker = judged.breaker;
    earlier.push(judged.failure);
    return { ...start, ...judged.failure, reason: shorten(reason) };
  });
  return { breaker, failures };
}

/** Hosts write what they like; PostgreSQL keeps no text with a zero or half a character in it. */
function shorten(reason: string): string {
  return reason.replaceAll("\0", "").slice(0, REASON_LENGTH_MAX).toWellFormed() || "its host gives no reason";
}
