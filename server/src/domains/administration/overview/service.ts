import { epochSeconds } from "../../../base/clock.ts";
import type { LoopDriver } from "../../../base/loop-driver.ts";
import { toDollars } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import { readAuditState } from "../../money/audit/for-administration.ts";
import { readHouse } from "../../money/ledger/for-administration.ts";
import { countPayouts } from "../../money/payments/for-administration.ts";
import { listFrozenIds } from "../../people/accounts/index.ts";
import { countInstancesByPhase, countRentsSince } from "../../rental/instances/for-administration.ts";
import { readQueueLength } from "../../rental/queue/for-administration.ts";
import { countServerless } from "../../serverless/for-administration.ts";
import { countMachineStates, countOpenFlags, listGpuMachines } from "../../supply/hosts/for-administration.ts";
import { countReportsSince } from "../../supply/listings/for-administration.ts";
import { listRentedDevices } from "../../supply/market/index.ts";
import type { Refusals } from "./refusals.ts";
import { countByModel, occupancyOf, type ModelCounts } from "./rules/gpus.ts";
import type { OverviewResponse } from "./schema.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
const MONTH_MS = 30 * DAY_MS;

export type OverviewPorts = {
  readonly loops: Pick<LoopDriver, "report" | "lateNames">;
  readonly gateway: { readonly connectedCount: number };
  readonly refusals: Refusals;
};

/** The market at a glance. Read it in one snapshot, so that its numbers agree. */
export async function readOverview(db: Reader, now: Date, ports: OverviewPorts): Promise<OverviewResponse> {
  const before = (ms: number) => new Date(now.getTime() - ms);
  const models = await countModels(db, now);
  const { loops, gateway, refusals } = ports;
  const machines = await countMachineStates(db);
  return {
    success: true,
    at: epochSeconds(now),
    gpus: models.map(viewModel),
    occupancy: occupancyOf(models) ?? null,
    machines: {
      total_count: machines.total,
      connected_count: machines.connected,
      listed_count: machines.listed,
      agents_here_count: gateway.connectedCount,
    },
    instances: Object.fromEntries(await countInstancesByPhase(db)),
    rents: {
      hour_count: await countRentsSince(db, before(HOUR_MS)),
      day_count: await countRentsSince(db, before(DAY_MS)),
      refusals: refusals.counts().map(({ code, hour, day }) => ({ code, hour_count: hour, day_count: day })),
      refusals_since: epochSeconds(refusals.since),
    },
    money: await viewMoney(db, { day: before(DAY_MS), month: before(MONTH_MS) }),
    payouts: await viewPayouts(db, before(MONTH_MS)),
    attention: {
      flag_count: await countOpenFlags(db),
      report_count: await countReportsSince(db, before(WEEK_MS)),
      freeze_count: (await listFrozenIds(db)).length,
    },
    queue: await viewQueue(db),
    endpoints: await countServerless(db).then(({ active, workers }) => ({
      active_count: active,
      worker_count: workers,
    })),
    loops: { total_count: loops.report().length, late: [...loops.lateNames()] },
    audit: await viewAudit(db, before(WEEK_MS)),
  };
}

export async function countModels(db: Reader, now: Date): Promise<readonly ModelCounts[]> {
  const rented = new Map<number, number>();
  for (const { machineId, count } of await listRentedDevices(db)) {
    rented.set(machineId, (rented.get(machineId) ?? 0) + count);
  }
  const machines = await listGpuMachines(db);
  return countByModel(
    machines.map(({ id, gpuName, presentCount, usableCount, isConnected, isListed, restsUntilAt, offerEndAt }) => ({
      ...{ gpuName, presentCount, usableCount, isConnected, rentedCount: rented.get(id) ?? 0 },
      isOpen: isListed && isConnected && offerEndAt > now && (restsUntilAt === undefined || restsUntilAt <= now),
    })),
  );
}

function viewModel({ gpuName, total, rented, free, broken, offline, unlisted }: ModelCounts) {
  return {
    ...{ gpu_name: gpuName, total_count: total, rented_count: rented, free_count: free },
    ...{ broken_count: broken, offline_count: offline, unlisted_count: unlisted },
  };
}

async function viewMoney(db: Reader, since: { readonly day: Date; readonly month: Date }) {
  const house = await readHouse(db, since);
  return {
    credit: toDollars(house.credit),
    held: toDollars(house.held),
    deposits: toDollars(house.deposits),
    earnings: toDollars(house.earnings),
    debt: toDollars(house.debt),
    fees: toDollars(house.fees),
    movements: house.movements.map(({ code, day, month }) => ({
      ...{ code, day_amount: toDollars(day), month_amount: toDollars(month) },
    })),
  };
}

async function viewPayouts(db: Reader, since: Date) {
  const { waitingCount, waitingAmount, failedCount, holdCount } = await countPayouts(db, since);
  return {
    ...{ waiting_count: waitingCount, waiting_amount: toDollars(waitingAmount) },
    ...{ failed_count: failedCount, hold_count: holdCount },
  };
}

async function viewQueue(db: Reader) {
  const { openCount, oldestAt } = await readQueueLength(db);
  return { open_count: openCount, oldest_at: oldestAt === undefined ? null : epochSeconds(oldestAt) };
}

async function viewAudit(db: Reader, since: Date) {
  const { reconciledAt, counts, alarmCount, sealedUntil } = await readAuditState(db, since);
  return {
    reconciled_at: reconciledAt === undefined ? null : epochSeconds(reconciledAt),
    last_found: { ...counts },
    alarm_count: alarmCount,
    sealed_until: sealedUntil === undefined ? null : epochSeconds(sealedUntil),
  };
}
