/** The door for the audit and the reconciliation, which read and repair charges. */
export {
  findNextLineId,
  listAuditedLines,
  listChargedContracts,
  listLineChecksums,
  listMispricedLines,
  listPaidBuckets,
  listPaidIds,
  sumPaidFromDeposits,
  sumTrafficCharges,
  type AuditedLine,
  type LineRange,
} from "./audit/audit-store.ts";
export { listWrongDays, type WrongDay } from "./days/charge-day-audit-store.ts";
export { forgetHold, scheduleSettlement } from "../tabs/for-charging.ts";
export { isHoldNamed, settleUnheld } from "./audit/repairs.ts";
export { sumPaidForRuns } from "./audit/run-cost-store.ts";
export {
  listAuditedInstances,
  listHoldOwners,
  listLateEnded,
  listStands,
  listUnscheduled,
  type AuditedInstance,
  type HoldOwner,
  type Stand,
} from "./audit/standing-store.ts";
