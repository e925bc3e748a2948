import { invalid } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import { formatDollars, toDollars } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listContractSums, type ChargeComponent, type ChargeSum } from "../../charging/for-invoices.ts";
import { listScopeCosts } from "../../../rental/instances/index.ts";
import { listOwnWorkers, listWorkplaces, type OwnWorkers, type Workplace } from "../../../serverless/index.ts";

export type SpendSpan = { readonly from: Date; readonly until: Date };

const DAY_MS = 86_400_000;
const SPAN_DEFAULT_MS = 30 * DAY_MS;
const SPAN_MAX_MS = 3_660 * DAY_MS;
const TIME_MAX_S = 253_402_300_799;

/** Parses the requested span, in seconds since 1970. */
export function readSpan({ start, end }: { readonly start?: number; readonly end?: number }, now: Date): SpendSpan {
  const until = end === undefined ? now : toDate("end", end);
  const from = start === undefined ? new Date(until.getTime() - SPAN_DEFAULT_MS) : toDate("start", start);
  if (from >= until) throw invalid("start", "start must be before end");
  if (until.getTime() - from.getTime() > SPAN_MAX_MS) throw invalid("start", "at most 3660 days can be asked for");
  return { from, until };
}

function toDate(field: string, seconds: number): Date {
  if (!(seconds >= 0 && seconds <= TIME_MAX_S)) throw invalid(field, `${field} must be seconds since 1970`);
  return new Date(seconds * 1000);
}

export type WorkSum = { readonly place: Workplace; readonly sum: ChargeSum };

/** The spending on the workers of all endpoints, consistent if `db` is a snapshot. */
export async function readWorkSums(db: Reader, userId: UserId, span: SpendSpan): Promise<readonly WorkSum[]> {
  const sums = await listContractSums(db, { payerId: userId, ...span });
  const ids = new Set(sums.flatMap(({ instanceId }) => instanceId ?? []));
  const places = await listWorkplaces(db, [...ids]);
  return sums.flatMap((sum) => {
    const place = sum.instanceId === undefined ? undefined : places.get(sum.instanceId);
    return place === undefined ? [] : [{ place, sum }];
  });
}

/** The total of these sums. */
export function viewSpent(works: readonly WorkSum[]) {
  const amount = totalOf(works);
  return {
    worker_count: new Set(works.map(({ sum }) => sum.instanceId)).size,
    amount: toDollars(amount),
    amount_exact: formatDollars(amount),
    gpu: formatDollars(totalOf(works, "gpu")),
    disk: formatDollars(totalOf(works, "disk")),
    bandwidth: formatDollars(totalOf(works, "bwu") + totalOf(works, "bwd")),
    unpaid: formatDollars(works.reduce((total, { sum }) => total + sum.unpaid, 0n)),
  };
}

export function totalOf(works: readonly WorkSum[], component?: ChargeComponent): bigint {
  return works
    .filter(({ sum }) => component === undefined || sum.component === component)
    .reduce((total, { sum }) => total + sum.amount, 0n);
}

type Worker = OwnWorkers["workers"][number];

/**
 * The cost an hour of the present workers of each own endpoint, and of each own worker group, as the spend rate of the
 * account counts it; consistent if `db` is a snapshot.
 */
export async function readHourlySpend(db: Reader, userId: UserId) {
  const { endpointIds, workerGroupIds, workers } = await listOwnWorkers(db, userId);
  const scopeOf = ({ instanceId }: Worker) => `instance:${instanceId}` as const;
  const costs = await listScopeCosts(db, [userId], workers.map(scopeOf));
  const view = (id: number, own: readonly Worker[]) => {
    const nanosPerHour = own.reduce((total, worker) => {
      const cost = costs.get(scopeOf(worker));
      return cost === undefined ? total : total + cost.runningNanosPerHour + cost.storageNanosPerHour;
    }, 0n);
    return { id, hourly_spend: toDollars(nanosPerHour) };
  };
  const byEndpoint = Map.groupBy(workers, ({ endpointId }) => endpointId);
  const byGroup = Map.groupBy(workers, ({ workerGroupId }) => workerGroupId);
  return {
    endpoints: endpointIds.map((id) => view(id, byEndpoint.get(id) ?? [])),
    workergroups: workerGroupIds.map((id) => view(id, byGroup.get(id) ?? [])),
  };
}
