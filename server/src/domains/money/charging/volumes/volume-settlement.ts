import type { Clock } from "../../../../base/clock.ts";
import type { MachineId, UserId, VolumeId } from "../../../../base/ids.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Reader, type Tx } from "../../../../db/transaction.ts";
import { listSpans, type MachineSpans } from "../../../supply/hosts/index.ts";
import {
  creditOf,
  earningsOf,
  lockAccounts,
  placeHolds,
  readMeans,
  type CapScope,
  type HoldId,
} from "../../ledger/index.ts";
import { lockCapRooms, useHolds } from "../../ledger/for-charging.ts";
import {
  HOLD_PERIODS,
  listChargeableVolumes,
  lockDueVolumes,
  lockVolumesWithin,
  markVolumesSettled,
  placeVolumes,
  postponeFirstDueVolume,
  volumeHoldAmount,
  type BillableVolume,
  type ChargeableVolume,
} from "../../../supply/volumes/for-charging.ts";
import { settleInBatches } from "../settlement/batches.ts";
import type { DueLine } from "../lines/lines.ts";
import { payLines, roomsOf, type Purse } from "../settlement/payment.ts";
import { nextSettlement } from "../rules/period.ts";
import { listShort, postCharges, type Means } from "../settlement/settlement.ts";
import type { Charge } from "../lines/transfers.ts";
import { volumeBillOf, type VolumeBill } from "./volume-bill.ts";

/** Seconds until a volume without a hold is settled again. */
const UNHELD_S = 3_600;
/** A deleted volume waits only for its host's next report, which mostly comes within seconds. */
const SETTLE_DELETED_EVERY_MS = 15_000;

/** Settles the volumes that are due; any number of processes may do this side by side. */
export async function settleDueVolumes(
  database: Database,
  clock: Clock,
): Promise<{ readonly settled: number; readonly lines: number }> {
  const counts = { settled: 0, lines: 0 };
  const settle = async (size: number) => {
    const { count, lineCount } = await withTransaction(database, clock, async (tx) => {
      const due = await lockDueVolumes(tx, size);
      return { count: due.length, lineCount: await settleVolumes(tx, due) };
    });
    counts.settled += count;
    counts.lines += lineCount;
    return count;
  };
  await settleInBatches(database, clock, { noun: "volumes", settle, postponeFirst: postponeFirstDueVolume });
  return counts;
}

/** Settles up to `limit` volumes of a user within a scope, in a transaction of its own. */
export async function settleVolumesWithin(
  database: Database,
  clock: Clock,
  which: { readonly userId: UserId; readonly scope: CapScope; readonly limit: number },
): Promise<void> {
  await withTransaction(database, clock, async (tx) => settleVolumes(tx, await lockVolumesWithin(tx, which)));
}

/** The usage of one volume that is not charged yet, the scopes that it counts within, and its hold. */
export type VolumeAccrual = {
  readonly lines: readonly DueLine[];
  readonly scopes: readonly CapScope[];
  readonly holdId: HoldId | undefined;
};

/** The accruals of all volumes of a user, by proven facts. */
export async function listVolumeAccruals(db: Reader, now: Date, userId: UserId): Promise<readonly VolumeAccrual[]> {
  const items = await loadItems(db, await listChargeableVolumes(db, userId), now);
  return items.map(({ volume, bill: { lines } }) => ({ lines, scopes: scopesOf(volume), holdId: volume.holdId }));
}

type Item = { readonly volume: BillableVolume; readonly bill: VolumeBill };

/** Charges these volumes as far as there is credit. The caller holds their locks. */
async function settleVolumes(tx: Tx, volumes: readonly ChargeableVolume[]): Promise<number> {
  const items = await loadItems(tx.db, volumes, tx.now);
  const { accounts, purses, rooms } = await openPurses(tx, items);
  const charges = items.flatMap(({ volume, bill }) => {
    const { id: volumeId, userId: payerId, hostId, machineId } = volume;
    const contract = { payerId, hostId, machineId, instanceId: undefined, volumeId };
    const scopes = scopesOf(volume);
    const purse = purses.get(payerId) ?? { aboveZeroNanos: 0n, aboveMinimumNanos: 0n };
    return payLines(bill.lines, { purse, rooms, scopes }).map((line): Charge => ({ line, contract, scopes }));
  });
  await postCharges(tx, charges, { accounts, rooms });
  const short = new Set(listShort(charges).map(({ volumeId }) => volumeId));
  const holds = await renewHolds(tx, items);
  await markVolumesSettled(
    tx,
    items.map(({ volume: { id, deletingAt }, bill: { chargedUntilAt, isLast } }) => {
      const { holdId, seconds } = holds.get(id) ?? { holdId: undefined, seconds: UNHELD_S };
      const everyMs = deletingAt === undefined ? seconds * 1000 : SETTLE_DELETED_EVERY_MS;
      const settleAt = isLast ? undefined : nextSettlement(tx.now, { afterMs: everyMs, isShort: short.has(id) });
      return { id, chargedUntilAt, settleAt, holdId };
    }),
  );
  return charges.length;
}

type Held = { readonly holdId: HoldId; readonly seconds: number };

/**
 * Places a hold for each volume: for its uncharged time and the first of `HOLD_PERIODS` that credit and caps cover, or
 * none when they cover none of them. A volume that is being deleted gets none: its machine may be away for good.
 */
async function renewHolds(tx: Tx, items: readonly Item[]): Promise<ReadonlyMap<VolumeId, Held>> {
  const held = new Map<VolumeId, Held>();
  let open = items.filter(
    ({ volume: { deletingAt, priceNanosPerGbMonth } }) => deletingAt === undefined && priceNanosPerGbMonth > 0n,
  );
  for (const period of HOLD_PERIODS) {
    const outcomes = await placeHolds(
      tx,
      open.map(({ volume, bill }) => {
        const { id, userId } = volume;
        const uncharged = Math.ceil((tx.now.getTime() - bill.chargedUntilAt.getTime()) / 1000);
        const amount = volumeHoldAmount(volume, uncharged + period);
        return { userId, amount, cause: { volume_id: id }, scopes: scopesOf(volume) };
      }),
    );
    for (const [index, { volume }] of open.entries()) {
      const outcome = outcomes[index];
      if (outcome?.kind === "placed") held.set(volume.id, { holdId: outcome.holdId, seconds: period });
    }
    open = open.filter(({ volume }) => !held.has(volume.id));
    if (open.length === 0) break;
  }
  return held;
}

async function loadItems(db: Reader, volumes: readonly ChargeableVolume[], now: Date): Promise<readonly Item[]> {
  const placed = await placeVolumes(db, volumes);
  const machineIds = [
    ...new Set(placed.flatMap(({ reachedThrough }) => reachedThrough.map(({ machineId }) => machineId))),
  ];
  const from = new Date(Math.min(now.getTime(), ...placed.map(({ chargedUntilAt }) => chargedUntilAt.getTime())));
  const spans: ReadonlyMap<MachineId, MachineSpans> = await listSpans(db, machineIds, from);
  return placed.map((volume) => ({ volume, bill: volumeBillOf(volume, spans, now) }));
}

/** Locks all accounts that money may move between, in the one global order, and frees the holds of these volumes. */
async function openPurses(tx: Tx, items: readonly Item[]): Promise<Means> {
  const charged = items.map(({ volume }) => volume);
  const accounts = await lockAccounts(
    tx,
    charged.flatMap(({ userId, hostId }) => [creditOf(userId), earningsOf(hostId)]),
  );
  await useHolds(
    tx,
    charged.flatMap(({ holdId }) => holdId ?? []),
  );
  const payerIds = [...new Set(charged.map(({ userId }) => userId))];
  const rooms = roomsOf(await lockCapRooms(tx, charged.flatMap(scopesOf)));
  const means = await readMeans(tx.db, payerIds, "credit");
  const purses = new Map<UserId, Purse>();
  for (const [userId, { aboveZeroNanos, aboveMinimumNanos }] of means) {
    purses.set(userId, { aboveZeroNanos, aboveMinimumNanos });
  }
  return { accounts, purses, rooms };
}

function scopesOf({ userId, capScopes }: Pick<BillableVolume, "userId" | "capScopes">): readonly CapScope[] {
  return [`account:${userId}`, ...capScopes];
}
