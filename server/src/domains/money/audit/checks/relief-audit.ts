// Amounts that users got without paying them, compared with the notes of their reasons.
import type { InstanceId } from "../../../../base/ids.ts";
import { asId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listAuditedArrears } from "../../limits/index.ts";
import { listAuditedFaults } from "../../../rental/instances/for-audit.ts";
import { listMinimumBalances, listNamedTransfers, type NamedTransfer } from "../../ledger/for-audit.ts";
import { reportOf } from "./contract-audit.ts";
import { compare, type Tally } from "../rules/difference.ts";
import type { Ranges } from "./ledger-audit.ts";
import { sumPaidForRuns } from "../../charging/for-audit.ts";

type Run = { readonly instanceId: InstanceId; readonly generation: number };

const nameOf = ({ instanceId, generation }: Run) => `run ${generation} of instance ${instanceId}`;

/**
 * The keys of the transfers for a host's fault: to credit and to the deposit, each out of its earnings and out of the
 * house's losses.
 */
function keysOf({ instanceId, generation }: Run): readonly string[] {
  const key = `host_credit:${instanceId}:${generation}`;
  return [key, `${key}:losses`, `${key}:deposit`, `${key}:deposit:losses`];
}

/** Compares credits for hosts' faults with the ledger, and with the payments for the failed runs. */
export async function auditFaults(db: Reader, tally: Tally, { transfers: range }: Ranges): Promise<void> {
  const recent = await listNamedTransfers(db, { keys: [], codes: ["host_credit"], range });
  const faults = await listAuditedFaults(db, { since: range.from, runs: recent.flatMap(runsIn) });
  tally.examine("faults", faults.length);
  const all = await listNamedTransfers(db, { keys: faults.flatMap(keysOf), codes: [], range });
  const given = Map.groupBy(
    new Map([...recent, ...all].map((one) => [one.id, one])).values(),
    (transfer) => runsIn(transfer).map(nameOf)[0],
  );
  const paid = new Map((await sumPaidForRuns(db, faults)).map((run) => [nameOf(run), run.paidNanos]));
  for (const fault of faults) {
    const name = nameOf(fault);
    const report = reportOf(tally, name);
    compare(report, "faults", "its transfers credited another amount", {
      stored: (given.get(name) ?? []).reduce((sum, { amountNanos }) => sum + amountNanos, 0n),
      expected: fault.creditedNanos,
    });
    const mostNanos = paid.get(name) ?? 0n;
    if (fault.creditedNanos > mostNanos) {
      const problem = "more was credited than was paid for it";
      report("faults", { problem, stored: String(fault.creditedNanos), expected: `at most ${mostNanos}` });
    }
  }
  const known = new Set(faults.map(nameOf));
  for (const transfer of recent) {
    if (runsIn(transfer).some((run) => known.has(nameOf(run)))) continue;
    const problem = "no fault of a host is the reason for it";
    reportOf(tally, `transfer ${transfer.id}`)("faults", { problem, stored: transfer.key, expected: "a fault" });
  }
}

function runsIn({ instanceId, generation }: NamedTransfer): readonly Run[] {
  return instanceId === undefined || generation === undefined
    ? []
    : [{ instanceId: asId<InstanceId>(instanceId), generation }];
}

/** Compares the negative minimum balances of credit, and the amounts that the house wrote off, with the arrears. */
export async function auditArrears(db: Reader, tally: Tally, { transfers: range }: Ranges): Promise<void> {
  const writeOffs = await listNamedTransfers(db, { keys: [], codes: ["write_off"], range });
  // Other write-offs are losses by returned payments.
  const recent = writeOffs.filter(({ returnKey }) => returnKey === undefined);
  const ids = recent.flatMap(({ arrearsId }) => arrearsId ?? []);
  const arrears = await listAuditedArrears(db, { since: range.from, ids });
  const floors = await listMinimumBalances(db);
  tally.examine("arrears", arrears.length + floors.size);
  const keys = arrears.map(({ id }) => `arrears:${id}:write-off`);
  const transfers = Map.groupBy(
    (await listNamedTransfers(db, { keys, codes: [], range })).concat(recent),
    ({ arrearsId }) => arrearsId,
  );
  for (const { id, userId, writtenOffNanos } of arrears) {
    const own = new Map((transfers.get(id) ?? []).map((one) => [one.id, one]));
    const report = reportOf(tally, `arrears ${id}`);
    compare(report, "arrears", "another amount was written off for them", {
      stored: [...own.values()].reduce((sum, { amountNanos }) => sum + amountNanos, 0n),
      expected: writtenOffNanos,
    });
    for (const { credit } of own.values()) {
      const [stored, expected] = [`${credit.kind} of user ${credit.userId ?? "-"}`, `credit of user ${userId}`];
      compare(report, "arrears", "it was written off for somebody else", { stored, expected });
    }
  }
  const known = new Set(arrears.map(({ id }) => id));
  for (const { id, key, arrearsId } of recent) {
    if (arrearsId !== undefined && known.has(arrearsId)) continue;
    const problem = "no arrears are the reason for it";
    reportOf(tally, `transfer ${id}`)("arrears", { problem, stored: key, expected: "arrears" });
  }
  const open = new Map(arrears.filter(({ isOpen }) => isOpen).map((one) => [one.userId, one.minBalanceNanos]));
  for (const userId of new Set([...open.keys(), ...floors.keys()])) {
    compare(reportOf(tally, `credit of user ${userId}`), "arrears", "it may go below zero by another amount", {
      stored: floors.get(userId) ?? 0n,
      expected: open.get(userId) ?? 0n,
    });
  }
}
