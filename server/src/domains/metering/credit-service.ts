import type { InstanceId } from "../../base/ids.ts";
import { formatDollars, nanos, type Nanos } from "../../base/money.ts";
import type { Tx } from "../../db/transaction.ts";
import { closeFaults, type BillableRun, type OpenFault } from "../instances/index.ts";
import {
  creditOf,
  depositOf,
  earningsOf,
  LOSSES,
  postAllTransfers,
  readMeans,
  type LockedAccounts,
  type TransferRequest,
} from "../ledger/index.ts";
import { postNotices } from "../notices/index.ts";
import { creditedSince, creditOfStretches } from "./host-credit.ts";
import { listPaidStretches } from "./line-store.ts";
import type { Item } from "./settlement.ts";

/**
 * Gives renters back what the last ten minutes of runs cost that their hosts failed, once they are charged to the end:
 * out of what the host has earned, and the rest out of the house's losses. To a deposit that is still open goes what it
 * paid. Returns whose faults have to wait, since their last count is being stored at this moment.
 */
export async function giveCredits(
  tx: Tx,
  items: readonly Item[],
  {
    accounts,
    faults,
    runs,
  }: {
    readonly accounts: LockedAccounts;
    readonly faults: readonly OpenFault[];
    readonly runs: readonly BillableRun[];
  },
): Promise<ReadonlySet<InstanceId>> {
  if (faults.length === 0) return new Set();
  const nameOf = (run: { readonly instanceId: InstanceId; readonly generation: number }) =>
    `${run.instanceId} ${run.generation}`;
  const charged = new Set(runs.map(nameOf));
  const due = faults.filter((fault) => fault.isCharged || charged.has(nameOf(fault)));
  const stretches = Map.groupBy(
    await listPaidStretches(
      tx.db,
      due.map((fault) => ({ ...fault, since: creditedSince(fault.meteredFromAt, fault.runningMs) })),
    ),
    nameOf,
  );
  const itemOf = new Map(items.map((item) => [item.facts.instance.id, item]));
  const hostIds = items.map(({ contract }) => contract.hostId);
  const earned = new Map<number, bigint>();
  for (const [hostId, { aboveZeroNanos }] of await readMeans(tx.db, hostIds, "earnings"))
    earned.set(hostId, aboveZeroNanos);
  const requests: TransferRequest[] = [];
  const closed = due.flatMap((fault) => {
    const item = itemOf.get(fault.instanceId);
    if (item === undefined) return [];
    const since = creditedSince(fault.meteredFromAt, fault.runningMs);
    const own = creditOfStretches(stretches.get(nameOf(fault)) ?? [], since);
    const { payerId, hostId } = item.contract;
    // Who rents his own machine pays himself.
    const total = payerId === hostId ? 0n : own.fromCredit + own.fromDeposit;
    if (total > 0n) {
      const toDeposit = item.facts.deposit?.isClosed === false ? own.fromDeposit : 0n;
      requests.push(...creditTransfers({ item, fault, toDeposit, toCredit: total - toDeposit }, earned));
    }
    return [{ ...fault, creditedNanos: nanos(total), item }];
  });
  await postAllTransfers(tx, accounts, requests);
  await closeFaults(tx, closed);
  await postNotices(tx, closed.filter(({ creditedNanos }) => creditedNanos > 0n).map(noticeOf));
  const done = new Set(due);
  return new Set(faults.filter((fault) => !done.has(fault)).map((fault) => fault.instanceId));
}

type Made = { readonly item: Item; readonly fault: OpenFault; readonly toDeposit: bigint; readonly toCredit: bigint };

/** At most four: to deposit and credit, each out of earnings and losses. What is taken of the earnings is gone for others. */
function creditTransfers(
  { item: { contract }, fault, toDeposit, toCredit }: Made,
  earned: Map<number, bigint>,
): readonly TransferRequest[] {
  const { payerId, hostId, machineId } = contract;
  const { instanceId, generation, reason } = fault;
  const transfers: TransferRequest[] = [];
  const give = (amount: bigint, credit: TransferRequest["credit"], suffix: string) => {
    const has = earned.get(hostId) ?? 0n;
    const fromHost = has < amount ? (has > 0n ? has : 0n) : amount;
    earned.set(hostId, has - fromHost);
    const sources = [
      { debit: earningsOf(hostId), part: fromHost, end: "" },
      { debit: LOSSES, part: amount - fromHost, end: ":losses" },
    ];
    for (const { debit, part, end } of sources) {
      if (part === 0n) continue;
      transfers.push({
        key: `host_credit:${instanceId}:${generation}${suffix}${end}`,
        debit,
        credit,
        amount: nanos(part),
        code: "host_credit",
        cause: {
          instance_id: instanceId,
          generation,
          ...(machineId === undefined ? {} : { machine_id: machineId }),
          reason,
        },
        description: `Instance ${instanceId}: its host failed`,
      });
    }
  };
  give(toDeposit, depositOf(payerId, instanceId), ":deposit");
  give(toCredit, creditOf(payerId), "");
  return transfers;
}

const REASONS = {
  host_lost: "its machine was lost",
  host_stopped: "its machine stopped it by itself",
  device_fault: "a GPU of its machine was sick",
} as const satisfies Record<OpenFault["reason"], string>;

function noticeOf(closed: OpenFault & { readonly creditedNanos: Nanos; readonly item: Item }) {
  const { instanceId, generation, reason, creditedNanos, item } = closed;
  return {
    userId: item.contract.payerId,
    kind: "client:instance_credited",
    subject: `Instance ${instanceId} was credited`,
    message:
      `Instance ${instanceId} ended a run because ${REASONS[reason]}. What the last ten minutes of that run cost, ` +
      `$${formatDollars(creditedNanos)}, was given back.`,
    key: `host_credit:${instanceId}:${generation}`,
  } as const;
}
