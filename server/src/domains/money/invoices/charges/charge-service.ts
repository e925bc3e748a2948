import { writePageToken } from "../../../../base/filters/page-token.ts";
import { formatDollars } from "../../../../base/money.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listInstanceNames } from "../../../rental/instances/index.ts";
import {
  listChargedInstances,
  listChargeKeys,
  listDaySums,
  listLines,
  sumChargedByDay,
  totalCharged,
  type ChargeKey,
  type DaySum,
} from "../../charging/for-invoices.ts";
import { listWorkplaces } from "../../../serverless/index.ts";
import { chargePages, linePages, type ChargesPlan, type ChargesScope } from "./rules/charge-plan.ts";
import { viewChart } from "./charge-chart-view.ts";
import { viewCharge, viewLine } from "./charge-views.ts";

const DAY_MS = 86_400_000;
/** Sums per page at most, above any real page: the sums of one day of all instances of an endpoint are read at once. */
const SUMS_MAX = 1_000_000;

/** One page of charges, consistent if `db` is a snapshot. */
export async function readCharges(db: Reader, userId: UserId, plan: ChargesPlan) {
  return plan.format === "lines" ? readLines(db, userId, plan) : readRows(db, userId, plan);
}

async function readLines(db: Reader, userId: UserId, plan: ChargesPlan & { readonly format: "lines" }) {
  const { from, until, isNewestFirst, limit, after, instanceId } = plan;
  const span = { payerId: userId, from, until };
  const [found, { amount, lineCount }] = await Promise.all([
    listLines(db, span, { after, isNewestFirst, limit: limit + 1, instanceId }),
    totalCharged(db, span, { instanceId }),
  ]);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return {
    success: true as const,
    count: page.length,
    total: lineCount,
    total_amount: formatDollars(amount),
    next_token: hasMore ? writePageToken(linePages(isNewestFirst), [last.chargedAt.getTime(), String(last.id)]) : null,
    results: page.map(viewLine),
  };
}

async function readRows(db: Reader, userId: UserId, plan: ChargesPlan & { readonly format: "table" | "tree" }) {
  const { from, until, kinds, isNewestFirst, limit, after, format } = plan;
  const span = { payerId: userId, from, until };
  const isTree = format === "tree";
  const workplaces = await listWorkplaces(db, await listChargedInstances(db, span));
  const workers = new Map([...workplaces].map(([id, { endpointId }]) => [id, endpointId]));
  const query = { span, workers, isTree, kinds, isNewestFirst, after, limit: limit + 1 };
  const { keys, total, amount } = await listChargeKeys(db, query);
  const page = keys.slice(0, limit);
  const last = page.at(-1);
  const hasMore = keys.length > limit && last !== undefined;
  return {
    success: true as const,
    count: page.length,
    total,
    total_amount: formatDollars(amount),
    next_token: hasMore ? writePageToken(chargePages(plan), [last.day, last.kind, last.id]) : null,
    results: await readPage(db, userId, { page, isTree, workplaces }),
  };
}

/** Charges of every day of a window, by kind and by component; consistent if `db` is a snapshot. */
export async function readChart(db: Reader, userId: UserId, { from, until, kinds }: ChargesScope) {
  const span = { payerId: userId, from, until };
  const workplaces = await listWorkplaces(db, await listChargedInstances(db, span));
  const totals = await sumChargedByDay(db, span, [...workplaces.keys()]);
  return viewChart(
    totals.filter(({ kind }) => kinds === undefined || kinds.includes(kind)),
    { first: from.getTime() / DAY_MS, end: until.getTime() / DAY_MS },
  );
}

async function readPage(
  db: Reader,
  userId: UserId,
  {
    page,
    isTree,
    workplaces,
  }: {
    readonly page: readonly ChargeKey[];
    readonly isTree: boolean;
    readonly workplaces: Awaited<ReturnType<typeof listWorkplaces>>;
  },
) {
  if (page.length === 0) return [];
  const days = page.map((key) => key.day);
  const from = new Date(Math.min(...days) * DAY_MS);
  const until = new Date((Math.max(...days) + 1) * DAY_MS);
  const sums = await listDaySums(db, { payerId: userId, from, until }, { limit: SUMS_MAX });
  const nameOf = (sum: DaySum): string => {
    if (sum.instanceId === undefined) return `${sum.day} volume ${sum.volumeId}`;
    const workplace = workplaces.get(sum.instanceId);
    if (workplace === undefined) return `${sum.day} instance ${sum.instanceId}`;
    return isTree ? `${sum.day} endpoint ${workplace.endpointId}` : `${sum.day} serverless ${sum.instanceId}`;
  };
  const byName = Map.groupBy(sums, nameOf);
  const ownOf = ({ day, kind, id }: ChargeKey) => byName.get(`${day} ${kind} ${id}`) ?? [];
  const ids = page.flatMap((key) => ownOf(key).flatMap(({ instanceId }) => instanceId ?? []));
  const names = new Map((await listInstanceNames(db, userId, [...new Set(ids)])).map((name) => [name.id, name]));
  return page.map((key) => viewCharge(key, ownOf(key), { names, workplaces }));
}
