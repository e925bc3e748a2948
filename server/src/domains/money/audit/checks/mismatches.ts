import type { InstanceId } from "../../../../base/ids.ts";
import { HOLDING_PHASES } from "../../../rental/instances/index.ts";
import type { HoldId, PendingHold } from "../../ledger/index.ts";
import type { HeldDevices } from "../../../supply/market/index.ts";
import type { HoldOwner, Stand } from "../../charging/for-audit.ts";

/** An instance whose devices are not those that its phase has. */
export type LeaseMismatch = {
  readonly instanceId: InstanceId;
  /** Undefined for one that is over, or never was. */
  readonly stand: Stand | undefined;
  readonly held: HeldDevices | undefined;
  readonly expectedCount: number;
};

/** Compares who holds devices with who should, by phase and by machine. */
export function mismatchedLeases(
  stands: ReadonlyMap<InstanceId, Stand>,
  held: ReadonlyMap<InstanceId, HeldDevices>,
): readonly LeaseMismatch[] {
  const mismatches: LeaseMismatch[] = [];
  for (const stand of stands.values()) {
    const own = held.get(stand.id);
    const count = own?.deviceCount ?? 0;
    // One that ends had devices only if it was not at rest when that was asked.
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
 * Holds that no instance names for which anything may still be charged, and instances that name none that is pending, or
 * one of somebody else. Between its end and its last settlement an instance keeps its hold.
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

/** Rows of two lists of ids that should be the same, compared bucket by bucket. */
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

/** How often each id is named beyond the once that it should be; 0 times is a difference, too. */
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
