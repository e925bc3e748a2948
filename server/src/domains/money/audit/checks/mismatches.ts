import type { InstanceId } from "../../../../base/ids.ts";
import { HOLDING_PHASES } from "../../../rental/instances/for-audit.ts";
import type { HoldId } from "../../ledger/index.ts";
import type { PendingHold } from "../../ledger/for-audit.ts";
import type { HeldDevices } from "../../../supply/market/index.ts";
import type { HoldOwner, Stand } from "../../charging/for-audit.ts";

/** An instance whose GPU grants do not fit its phase. */
export type LeaseMismatch = {
  readonly instanceId: InstanceId;
  /** The instance's state; undefined when it is over, or does not exist. */
  readonly stand: Stand | undefined;
  readonly held: HeldDevices | undefined;
  readonly expectedCount: number;
};

/** Compares granted GPUs with those that each instance should have, by phase and by machine. */
export function mismatchedLeases(
  stands: ReadonlyMap<InstanceId, Stand>,
  held: ReadonlyMap<InstanceId, HeldDevices>,
): readonly LeaseMismatch[] {
  const mismatches: LeaseMismatch[] = [];
  for (const stand of stands.values()) {
    const own = held.get(stand.id);
    const count = own?.deviceCount ?? 0;
    // An ending instance has GPUs only if it was not at rest when its end was requested.
    const isHolding = HOLDING_PHASES.has(stand.phase) && !(stand.phase === "ending" && count === 0);
    const expectedCount = isHolding ? stand.deviceCount : 0;
    const isElsewhere = own?.machineIds.some((id) => id !== stand.machineId) ?? false;
    if (count === expectedCount && !isElsewhere) continue;
    mismatches.push({ instanceId: stand.id, stand, held: own, expectedCount });
  }
  for (const own of held.values()) {
    if (stands.has(own.instanceId)) continue;
    mismatches.push({ instanceId: own.instanceId, stand: undefined, held: own, expectedCount: 0 });
  }
  return mismatches;
}

/**
 * Holds that no instance with open charges names, instances that name no pending hold, and holds that several instances
 * name. An ended instance keeps its hold until its last settlement.
 */
export type HoldMismatches = {
  readonly withoutInstance: readonly PendingHold[];
  readonly shared: readonly HoldId[];
  readonly withoutHold: readonly HoldOwner[];
};

export function mismatchedHolds(holds: readonly PendingHold[], owners: readonly HoldOwner[]): HoldMismatches {
  const pending = new Set(holds.map(({ id }) => id));
  const namedBy = Map.groupBy(
    owners.filter(({ isOpen }) => isOpen),
    ({ holdId }) => holdId,
  );
  return {
    withoutInstance: holds.filter(({ id }) => !namedBy.has(id)),
    shared: [...namedBy].flatMap(([id, own]) => (own.length > 1 ? [id] : [])),
    withoutHold: owners.filter(({ holdId, isOpen }) => !isOpen || !pending.has(holdId)),
  };
}

/** A run of ids, as a count and a fingerprint; two lists of ids that should be equal are compared bucket by bucket. */
export type Bucket = { readonly bucket: bigint; readonly count: number; readonly fingerprint: string };

export function differingBuckets(one: readonly Bucket[], other: readonly Bucket[]): readonly bigint[] {
  const known = new Map(other.map((bucket) => [bucket.bucket, bucket]));
  const differing = one.flatMap(({ bucket, count, fingerprint }) => {
    const same = known.get(bucket);
    known.delete(bucket);
    return same?.count === count && same.fingerprint === fingerprint ? [] : [bucket];
  });
  return [...differing, ...known.keys()].toSorted((a, b) => (a < b ? -1 : 1));
}

/** Ids that are not a transfer named by exactly one charge line, with the number of lines that name each. */
export function pairIds(
  transferIds: readonly bigint[],
  namedIds: readonly bigint[],
): readonly { readonly id: bigint; readonly lineCount: number; readonly isTransfer: boolean }[] {
  const counts = new Map<bigint, number>();
  for (const id of namedIds) counts.set(id, (counts.get(id) ?? 0) + 1);
  const transfers = new Set(transferIds);
  const ids = [...new Set([...transferIds, ...namedIds])].toSorted((a, b) => (a < b ? -1 : 1));
  return ids.flatMap((id) => {
    const lineCount = counts.get(id) ?? 0;
    const isTransfer = transfers.has(id);
    return isTransfer && lineCount === 1 ? [] : [{ id, lineCount, isTransfer }];
  });
}
