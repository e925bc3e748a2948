import type { InstanceId, UserId } from "../../../../base/ids.ts";
import { formatDollars, nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { closeFaults, type OpenFault } from "../../../rental/instances/for-charging.ts";
import {
  creditOf,
  depositOf,
  earningsOf,
  postAllTransfers,
  type LockedAccounts,
  type TransferRequest,
} from "../../ledger/index.ts";
import { listWentBack } from "../../ledger/for-charging.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { creditedSince, creditOfStretches, mostGivenBack } from "../rules/host-credit.ts";
import { listPaidStretches, sumPaidTo } from "../lines/line-store.ts";
import type { Item } from "./item.ts";
import type { BillableRun } from "./billable-store.ts";

/**
 * Returns to renters the price of the last ten minutes of runs that their hosts failed, once these runs are charged to
 * their ends. The host pays: when its earnings were paid out already, they become negative and later earnings pay that
 * debt. The share of a deposit that is still open goes back to it. Returns the instances whose faults must wait, since
 * their last count is being stored at this moment.
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
  const kept = await KeptMoney.read(
    tx.db,
    due.flatMap(({ instanceId }) => itemOf.get(instanceId) ?? []),
  );
  const requests: TransferRequest[] = [];
  const closed = due.flatMap((fault) => {
    const item = itemOf.get(fault.instanceId);
    if (item === undefined) return [];
    const since = creditedSince(fault.meteredFromAt, fault.runningMs);
    const own = creditOfStretches(stretches.get(nameOf(fault)) ?? [], since);
    const { payerId, hostId } = item.contract;
    // A host who rents their own machine would pay themselves.
    const total = payerId === hostId ? 0n : kept.take(item, own.fromCredit + own.fromDeposit);
    if (total > 0n) {
      const depositNanos = item.facts.deposit?.isClosed === false ? own.fromDeposit : 0n;
      const toDeposit = depositNanos < total ? depositNanos : total;
      requests.push(...creditTransfers({ item, fault, toDeposit, toCredit: total - toDeposit }));
    }
    return [{ ...fault, creditedNanos: nanos(total), item }];
  });
  await postAllTransfers(tx, accounts, requests);
  await closeFaults(tx, closed);
  await postNotifications(tx, closed.filter(({ creditedNanos }) => creditedNanos > 0n).map(notificationOf));
  const done = new Set(due);
  return new Set(faults.filter((fault) => !done.has(fault)).map((fault) => fault.instanceId));
}

/** The money of renters that hosts still have, for renters whose returned payments took some of it back. */
class KeptMoney {
  readonly #left: Map<string, bigint>;

  private constructor(left: Map<string, bigint>) {
    this.#left = left;
  }

  /** Reads the sums; the caller holds the locks of these accounts. */
  static async read(db: Reader, items: readonly Item[]): Promise<KeptMoney> {
    const pairs = items.map(({ contract }) => contract);
    const of = { hostIds: pairs.map(({ hostId }) => hostId), renterIds: pairs.map(({ payerId }) => payerId) };
    const wentBack = pairs.length === 0 ? [] : await listWentBack(db, of);
    const returned = wentBack.filter(({ takenNanos }) => takenNanos > 0n);
    if (returned.length === 0) return new KeptMoney(new Map());
    const paid = new Map((await sumPaidTo(db, of)).map((one) => [pairOf(one), one.paidNanos]));
    return new KeptMoney(
      new Map(returned.map((one) => [pairOf(one), mostGivenBack({ ...one, paidNanos: paid.get(pairOf(one)) ?? 0n })])),
    );
  }

  /** The part of an amount that the host still has; it is taken from the remainder. */
  take({ contract: { hostId, payerId } }: Item, amount: bigint): bigint {
    const pair = pairOf({ hostId, renterId: payerId });
    const left = this.#left.get(pair);
    if (left === undefined) return amount;
    const taken = amount < left ? amount : left;
    this.#left.set(pair, left - taken);
    return taken;
  }
}

const pairOf = ({ hostId, renterId }: { readonly hostId: UserId; readonly renterId: UserId }) =>
  `${hostId} ${renterId}`;

type Made = { readonly item: Item; readonly fault: OpenFault; readonly toDeposit: bigint; readonly toCredit: bigint };

/** At most two transfers: to the deposit, and to credit. */
function creditTransfers({ item: { contract }, fault, toDeposit, toCredit }: Made): readonly TransferRequest[] {
  const { payerId, hostId, machineId } = contract;
  const { instanceId, generation, reason } = fault;
  const give = (amount: bigint, credit: TransferRequest["credit"], suffix: string): TransferRequest => ({
    key: `host_credit:${instanceId}:${generation}${suffix}`,
    debit: earningsOf(hostId),
    credit,
    amount: nanos(amount),
    code: "host_credit",
    cause: {
      instance_id: instanceId,
      generation,
      ...(machineId === undefined ? {} : { machine_id: machineId }),
      reason,
    },
    description: `Instance ${instanceId}: its host failed`,
  });
  return [give(toDeposit, depositOf(payerId, instanceId), ":deposit"), give(toCredit, creditOf(payerId), "")].filter(
    ({ amount }) => amount > 0n,
  );
}

const REASONS = {
  host_lost: "its machine was lost",
  host_stopped: "its machine stopped it by itself",
  device_fault: "a GPU of its machine was sick",
} as const satisfies Record<OpenFault["reason"], string>;

function notificationOf(closed: OpenFault & { readonly creditedNanos: Nanos; readonly item: Item }) {
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
