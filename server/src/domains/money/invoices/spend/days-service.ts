import { epochSeconds } from "../../../../base/clock.ts";
import { parseId, type ApiKeyId, type InstanceId, type UserId } from "../../../../base/ids.ts";
import { nanos, toDollars } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listKeyOrigins, type KeyOrigin } from "../../../people/accounts/for-invoices.ts";
import { listInstanceCosts, listInstanceNames, listOrderScopes, NO_COST } from "../../../rental/instances/index.ts";
import { listVolumeCosts } from "../../../supply/volumes/index.ts";
import { listWorkplaces } from "../../../serverless/index.ts";
import { sumContractsByDay, type ContractDay } from "../../charging/for-invoices.ts";
import { accruedOf, readBalance } from "../../charging/index.ts";
import { forecastMonth, splitByDay, type Part, type Split } from "./rules/split.ts";

const DAY_MS = 86_400_000;
const PARTS_MAX = 12;
const NONE: Part = { id: "none", name: "None" };

type PartOf = (contract: ContractDay) => Part;

/** Spending of each of the last days, split into at most twelve parts; consistent if `db` is a snapshot. */
export async function readSpendDays(
  db: Reader,
  { userId, now }: { readonly userId: UserId; readonly now: Date },
  { by, days }: { readonly by: Split; readonly days: number },
) {
  const end = Math.floor(now.getTime() / DAY_MS) + 1;
  const firstDay = end - days;
  const span = { payerId: userId, from: new Date(firstDay * DAY_MS), until: new Date(end * DAY_MS) };
  const contracts = await sumContractsByDay(db, span);
  const partOf = await readParts(db, userId, { by, contracts });
  const amounts = contracts.map((contract) => ({ ...contract, part: partOf(contract) }));
  const series = splitByDay(amounts, { firstDay, dayCount: days, most: PARTS_MAX });
  return {
    success: true as const,
    by,
    days: Array.from({ length: days }, (_, index) => ((firstDay + index) * DAY_MS) / 1000),
    total: toDollars(nanos(series.reduce((total, one) => total + one.total, 0n))),
    series: series.map(({ id, name, total, amounts: own }) => ({
      id,
      name,
      total: toDollars(total),
      amounts: own.map((amount) => toDollars(amount)),
    })),
  };
}

type Asked = { readonly by: Split; readonly contracts: readonly ContractDay[] };

/** Reads what tells the part of each contract. */
async function readParts(db: Reader, userId: UserId, { by, contracts }: Asked): Promise<PartOf> {
  const ids = [...new Set(contracts.flatMap(({ instanceId }) => instanceId ?? []))];
  const ofInstance = (part: (id: InstanceId) => Part): PartOf => {
    return ({ instanceId }) => (instanceId === undefined ? NONE : part(instanceId));
  };
  switch (by) {
    case "kind":
      return kindsOf(new Set((await listWorkplaces(db, ids)).keys()));
    case "endpoint": {
      const places = await listWorkplaces(db, ids);
      return ofInstance((id) => {
        const place = places.get(id);
        if (place === undefined) return NONE;
        return { id: `endpoint:${place.endpointId}`, name: place.endpointName || `Endpoint ${place.endpointId}` };
      });
    }
    case "person":
    case "key": {
      const keys = await readOrderKeys(db, userId, ids);
      const partOf = by === "key" ? keyPart : personPart;
      return ofInstance((id) => {
        const key = keys.get(id);
        return key === undefined ? NONE : partOf(key);
      });
    }
    case "label":
    case "instance": {
      const labels = new Map((await listInstanceNames(db, userId, ids)).map(({ id, label }) => [id, label ?? ""]));
      return by === "label" ? ofInstance((id) => labelled(labels.get(id) ?? "")) : contractsOf(labels);
    }
  }
}

type OrderKey = { readonly id: ApiKeyId; readonly origin: KeyOrigin };

/** The key that ordered each of these instances, for those that a key ordered. */
async function readOrderKeys(
  db: Reader,
  userId: UserId,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, OrderKey>> {
  const keyIds = new Map<InstanceId, ApiKeyId>();
  for (const [id, scopes] of await listOrderScopes(db, userId, instanceIds)) {
    const scope = scopes.find((one) => one.startsWith("key:"));
    const keyId = scope === undefined ? undefined : parseId<ApiKeyId>(scope.replace("key:", ""));
    if (keyId !== undefined) keyIds.set(id, keyId);
  }
  const origins = await listKeyOrigins(db, userId, [...new Set(keyIds.values())]);
  return new Map(
    [...keyIds].flatMap(([instanceId, id]) => {
      const origin = origins.get(id);
      return origin === undefined ? [] : [[instanceId, { id, origin }] as const];
    }),
  );
}

/** All sessions of a person are one part: each sign-in has a key of its own, and none has a name. */
function keyPart({ id, origin: { name, isSession, personId, personName } }: OrderKey): Part {
  return isSession
    ? { id: `sessions:${personId}`, name: `Sign-ins of ${personName}` }
    : { id: `key:${id}`, name: name || `Key ${id}` };
}

function personPart({ origin: { personId, personName } }: OrderKey): Part {
  return { id: `person:${personId}`, name: personName };
}

function labelled(label: string): Part {
  return label === "" ? NONE : { id: `label:${label}`, name: label };
}

function contractsOf(labels: ReadonlyMap<InstanceId, string>): PartOf {
  return ({ instanceId, volumeId }) => {
    if (instanceId === undefined) return { id: `volume:${volumeId}`, name: `Volume ${volumeId}` };
    return { id: `instance:${instanceId}`, name: labels.get(instanceId) || `Instance ${instanceId}` };
  };
}

function kindsOf(workers: ReadonlySet<InstanceId>): PartOf {
  return ({ instanceId }) => {
    if (instanceId === undefined) return { id: "volume", name: "Volumes" };
    return workers.has(instanceId) ? { id: "serverless", name: "Serverless" } : { id: "instance", name: "Instances" };
  };
}

/** Spending of this month, its end if all goes on as now, and when the balance is used up; `db` is a snapshot. */
export async function readSpendForecast(db: Reader, now: Date, userId: UserId) {
  const instances = (await listInstanceCosts(db, [userId])).get(userId) ?? NO_COST;
  const volumes = (await listVolumeCosts(db, [userId])).get(userId) ?? 0n;
  const nanosPerHour = instances.runningNanosPerHour + instances.storageNanosPerHour + volumes;
  const { balanceNanos } = await readBalance(db, now, userId);
  const accrued = await accruedOf(db, now, userId);
  const today = Math.floor(now.getTime() / DAY_MS);
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  const until = new Date((today + 1) * DAY_MS);
  const contracts = await sumContractsByDay(db, { payerId: userId, from, until });
  const sum = (own: readonly ContractDay[]) => own.reduce((total, { amount }) => total + amount, 0n);
  const spent = sum(contracts) + accrued;
  const { monthNanos, monthEnd, dryAt } = forecastMonth(now, { spent, nanosPerHour, balance: balanceNanos });
  return {
    success: true as const,
    balance: toDollars(balanceNanos),
    cost_per_hour: toDollars(nanosPerHour),
    today: toDollars(sum(contracts.filter(({ day }) => day === today))),
    month: toDollars(spent),
    month_forecast: toDollars(monthNanos),
    month_end: epochSeconds(monthEnd),
    runs_dry_at: dryAt === undefined ? null : epochSeconds(dryAt),
  };
}
