// The facts about instances at a settlement or a reading, and the charge lines that follow from them.
import type { InstanceId, MachineId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listDeposits, type Deposit } from "../../deposits/index.ts";
import { certainUntil } from "../../../supply/hosts/for-charging.ts";
import { coveredParts, listHostIds, listSpans, type MachineSpans } from "../../../supply/hosts/index.ts";
import { listPastTerms, type TermsHistory } from "../../../rental/instances/for-charging.ts";
import { gpuLines, trafficLines, type DueLine, type LineState, type Prepaid } from "../lines/lines.ts";
import { storageLines, type StateChange } from "../lines/storage-lines.ts";
import { listPhaseChanges, type Billable, type BillableRun, type PhaseChange } from "./billable-store.ts";

export type InstanceFacts = {
  readonly instance: Billable;
  /** Runs with usage to charge, in the order of their starts. */
  readonly runs: readonly BillableRun[];
  readonly history: TermsHistory;
  readonly hostId: UserId;
  readonly machine: MachineSpans;
  readonly changes: readonly StateChange[];
  readonly deposit: Deposit | undefined;
};

/** Loads all facts besides counters that charge lines need, with one statement for each kind of fact. */
export async function loadFacts(
  db: Reader,
  instances: readonly Billable[],
  runs: readonly BillableRun[],
): Promise<readonly InstanceFacts[]> {
  if (instances.length === 0) return [];
  const metered = instances.flatMap((instance) => {
    const at = storageMark(instance);
    return at === undefined ? [] : [{ id: instance.id, at }];
  });
  const machineIds = [...new Set(instances.map(({ machineId }) => machineId))];
  const earliest = metered.reduce((low, { at }) => (at < low ? at : low), metered[0]?.at ?? new Date(0));
  const ids = instances.map(({ id }) => id);
  const past = await listPastTerms(db, ids);
  const hostIds = await listHostIds(db, machineIds);
  const spans = metered.length === 0 ? new Map<MachineId, MachineSpans>() : await listSpans(db, machineIds, earliest);
  const changes = Map.groupBy(await listPhaseChanges(db, metered), (change) => change.instanceId);
  const deposits = await loadDeposits(db, instances, past);
  const runsOf = Map.groupBy(runs, (run) => run.instanceId);
  return instances.flatMap((instance) => {
    const hostId = hostIds.get(instance.machineId);
    if (hostId === undefined) return [];
    return [
      {
        instance,
        runs: runsOf.get(instance.id) ?? [],
        history: { past: past.get(instance.id) ?? [], present: instance.terms },
        hostId,
        machine: spans.get(instance.machineId) ?? { spans: [], lastSeenAt: earliest },
        changes: (changes.get(instance.id) ?? []).map(toStateChange),
        deposit: deposits.get(instance.id),
      },
    ];
  });
}

/** Loads the deposits of instances that have, or had, a discount. */
async function loadDeposits(
  db: Reader,
  instances: readonly Billable[],
  past: Awaited<ReturnType<typeof listPastTerms>>,
): Promise<ReadonlyMap<InstanceId, Deposit>> {
  const isReserved = ({ id, terms }: Billable) =>
    terms.discountPpm > 0 || (past.get(id) ?? []).some(({ discountPpm }) => discountPpm > 0);
  return listDeposits(
    db,
    instances.filter(isReserved).map(({ id }) => id),
  );
}

/** The moment up to which the storage of an instance is settled; undefined when it never ran. */
function storageMark({ storageChargedUntilAt, meteredFromAt }: Billable): Date | undefined {
  return storageChargedUntilAt ?? meteredFromAt;
}

const STATES: Readonly<Record<PhaseChange["phase"], LineState | "over">> = {
  scheduled: "stopped",
  starting: "loading",
  running: "running",
  yielding: "running",
  stopping: "stopped",
  stopped: "stopped",
  ending: "over",
  ended: "over",
};

function toStateChange({ at, phase, cause }: PhaseChange): StateChange {
  return { at, state: STATES[phase], cause };
}

export type Bill = {
  readonly lines: readonly DueLine[];
  readonly storageChargedUntilAt: Date | undefined;
  /** The use of the deposit by these lines; undefined when it pays for none of them. */
  readonly use: { readonly leftNanos: bigint; readonly savedNanos: bigint; readonly isSpent: boolean } | undefined;
};

/**
 * All charge lines that are due for an instance: the counted usage of its runs, and its disk while its machine was in
 * touch.
 */
export function billOf({ instance, runs, history, machine, changes, deposit }: InstanceFacts, now: Date): Bill {
  const lines: DueLine[] = [];
  let prepaid: Prepaid | undefined = deposit;
  let use: Bill["use"];
  for (const run of runs) {
    const ran = gpuLines(run, history, prepaid);
    lines.push(...ran.lines, ...trafficLines(run, history));
    if (prepaid === undefined || prepaid.isClosed) continue;
    // A deposit that is used up pays nothing for later runs, and gives no discount on them.
    prepaid = ran.isSpent ? undefined : { ...prepaid, leftNanos: ran.leftNanos };
    const savedNanos = (use?.savedNanos ?? 0n) + ran.savedNanos;
    use = { leftNanos: ran.leftNanos, savedNanos, isSpent: ran.isSpent };
  }
  const mark = storageMark(instance);
  if (mark === undefined) return { lines, storageChargedUntilAt: undefined, use };
  const stored = { name: `disk:${instance.id}`, sizeBytes: instance.diskBytes, history, changes };
  const covered = coveredParts(machine.spans, machine.lastSeenAt, { from: mark, to: now });
  const storage = storageLines(stored, mark, covered);
  const certain = certainUntil(machine.spans, machine.lastSeenAt, now);
  const until = certain < now ? certain : now;
  // An earlier settlement may have read a later clock: its settled time stays settled.
  const storageChargedUntilAt = until > storage.untilAt ? until : storage.untilAt;
  return { lines: [...lines, ...storage.lines], storageChargedUntilAt, use };
}
