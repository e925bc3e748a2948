import type { Reader } from "../../../../db/transaction.ts";
import { listAuditedCaps, listPendingHolds } from "../../ledger/for-audit.ts";
import { startOf } from "../../ledger/index.ts";
import { listHeldDevices } from "../../../supply/market/index.ts";
import { spentWithin } from "../../charging/index.ts";
import { listUnscheduledVolumes, listVolumeHolds } from "../../../supply/volumes/for-audit.ts";
import { reportOf } from "./contract-audit.ts";
import { compare, type Tally } from "../rules/difference.ts";
import { mismatchedHolds, mismatchedLeases } from "./mismatches.ts";
import { listHoldOwners, listStands, listUnscheduled } from "../../charging/for-audit.ts";

/** Unscheduled instances, and volumes, that one audit reports at most: nobody would read more. */
const UNSCHEDULED_MAX = 10_000;

/** Compares the GPU grants of this moment with the instances that should have them. */
export async function auditLeases(db: Reader, tally: Tally): Promise<void> {
  const stands = await listStands(db);
  tally.examine("leases", stands.size);
  for (const { instanceId, stand, held, expectedCount } of mismatchedLeases(stands, await listHeldDevices(db))) {
    reportOf(tally, `instance ${instanceId}`)("leases", {
      problem: `it is ${stand?.phase ?? "over"} and does not have the GPUs that it should have`,
      stored: `${held?.deviceCount ?? 0} of machine ${held?.machineIds.join(", ") ?? "-"}`,
      expected: `${expectedCount} of machine ${stand?.machineId ?? "-"}`,
    });
  }
}

/** Compares holds with the instances and volumes that name them. */
export async function auditHolds(db: Reader, tally: Tally): Promise<void> {
  const holds = await listPendingHolds(db);
  const pending = new Set(holds.map(({ id }) => id));
  const ofVolumes = await listVolumeHolds(db);
  const named = new Set(ofVolumes.map(({ holdId }) => holdId));
  const mismatches = mismatchedHolds(
    holds.filter(({ id }) => !named.has(id)),
    await listHoldOwners(db),
  );
  tally.examine("holds", holds.length);
  const differ = (subject: string, problem: string, stored: string, expected: string) =>
    tally.differ("holds", { subject, problem, stored, expected });
  for (const { id, holdId } of ofVolumes) {
    if (pending.has(holdId)) continue;
    differ(`volume ${id}`, "it names a hold that is not pending", `hold ${holdId}`, "a pending hold");
  }
  for (const { id } of mismatches.withoutInstance) {
    differ(`hold ${id}`, "no live instance names it", "pending", "closed");
  }
  for (const id of mismatches.shared) differ(`hold ${id}`, "several instances name it", "several", "one");
  for (const { id, holdId, phase } of mismatches.withoutHold) {
    differ(`instance ${id}`, `it is ${phase} and names a hold that is not pending`, `hold ${holdId}`, "a pending hold");
  }
}

/** Checks that everything that may still cost something will be settled. */
export async function auditSchedules(db: Reader, tally: Tally, since: Date | undefined): Promise<void> {
  const instanceIds = await listUnscheduled(db, since ?? new Date(0), UNSCHEDULED_MAX);
  const volumeIds = await listUnscheduledVolumes(db, UNSCHEDULED_MAX);
  const unscheduled = { problem: "it may still cost something", stored: "never due", expected: "due at some time" };
  for (const id of instanceIds) tally.differ("schedules", { subject: `instance ${id}`, ...unscheduled });
  for (const id of volumeIds) tally.differ("schedules", { subject: `volume ${id}`, ...unscheduled });
}

/**
 * Compares the amounts that count against caps. Spending is compared for the current period, since earlier ones do not
 * count any more. A cap without a period needs all payments of its account, so only a full audit compares it.
 */
export async function auditCaps(
  db: Reader,
  tally: Tally,
  { now, isFull }: { readonly now: Date; readonly isFull: boolean },
): Promise<void> {
  const caps = await listAuditedCaps(db);
  tally.examine("caps", caps.length);
  for (const cap of caps) {
    const { userId, scope, startedAt } = cap;
    const report = reportOf(tally, `cap ${cap.id}`);
    compare(report, "caps", "the holds that it counts are not those of its scope", {
      stored: cap.heldNanos,
      expected: cap.pendingNanos,
    });
    const isPresent = cap.startedAt >= startOf(cap.period, now);
    if (!isPresent || (cap.period === "total" && !isFull)) continue;
    compare(report, "caps", "its spending is not the sum of the payments in its period", {
      stored: cap.spentNanos,
      expected: await spentWithin(db, { userId, scope, from: startedAt }),
    });
  }
}
