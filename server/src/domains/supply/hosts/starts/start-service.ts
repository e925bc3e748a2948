import type { MachineId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { postNotifications, type Notification } from "../../../notifications/index.ts";
import { notifyMarket } from "../market-channel-store.ts";
import { noteFailure, RENTER_COUNTS_EVERY_MS, type Breaker } from "./rules/breaker.ts";
import {
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
  /** The reason that the host gave. */
  readonly reason: string;
};

const REASON_LENGTH_MAX = 1_000;
/** An agent that connected more recently has had no time to answer. */
const ANSWER_MS = 60_000;

/**
 * Notes runs that did not begin by their machine's fault, each once even when it is reported again, and puts a machine
 * to rest after enough failures. Starts of a host's own jobs are left out. The caller holds the machines' locks.
 */
export async function recordFailedStarts(tx: Tx, starts: readonly FailedStart[]): Promise<void> {
  await note(tx, starts, () => true);
}

/** Notes failures for runs whose time to start is over without an answer, unless the machine was away. */
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

/** Hosts send any text; PostgreSQL stores no text with a zero byte or half a surrogate pair. */
function shorten(reason: string): string {
  return reason.replaceAll("\0", "").slice(0, REASON_LENGTH_MAX).toWellFormed() || "its host gives no reason";
}
