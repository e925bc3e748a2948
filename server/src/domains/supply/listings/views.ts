import { epochSeconds } from "../../../base/clock.ts";
import { toDollars, type Nanos } from "../../../base/money.ts";
import { viewReportHeading, type User } from "../../people/accounts/index.ts";
import type { Machine, Maintenance } from "../hosts/index.ts";
import type { Rental } from "../../rental/instances/index.ts";
import type { EarningSum } from "../../money/ledger/index.ts";
import { freeDiskBytes, isOpen } from "../market/index.ts";
import { BYTES_PER_GB, type SpaceOf } from "../volumes/for-listings.ts";
import {
  dayOf,
  earnedBy,
  earnedPerHour,
  meanReliability,
  totalOf,
  type Days,
  type Reliability,
} from "./rules/earnings.ts";
import { machineActions } from "./machine-actions.ts";
import { describeTroubles } from "./rules/troubles.ts";
import type { ShownMachine } from "./machine-service.ts";
import type { EarningsResponse, MachineRecord, MaintenanceRecord, SaidJob } from "./schema.ts";
import type { DefaultJob, Report } from "./store.ts";

const BYTES_PER_MB = 1_000_000;
const HOUR_MS = 3_600_000;

/** The API's record of a machine for its host. */
export function viewMachine(shown: ShownMachine, now: Date): MachineRecord {
  const { hosted, machine, space, job, maintenances, problems, restReason } = shown;
  return {
    id: machine.id,
    machine_id: machine.id,
    ...hardwareFields(machine),
    verification: machine.verification,
    hosting_type: machine.hostingType,
    reliability2: Math.round(machine.reliabilityPpm / 100) / 10_000,
    ...listingFields(shown, now),
    volume_offer: space === undefined ? null : viewSpace(space),
    is_online: machine.isConnected,
    timeout: silentSeconds(machine, now),
    online_since: machine.isConnected ? moment(hosted.connectedAt) : null,
    last_seen: epochSeconds(machine.lastSeenAt),
    ...rentalFields(shown),
    ...earningFields(shown, now),
    num_reports: shown.reportCount,
    gpu_problems: [...problems],
    error_description: describeTroubles(restReason, problems) ?? null,
    rests_until: machine.restsUntilAt !== undefined && machine.restsUntilAt > now ? moment(machine.restsUntilAt) : null,
    default_job: job === undefined ? null : viewJob(job),
    maintenance: maintenances.map(viewMaintenance),
    allowed_actions: machineActions(shown, now),
  };
}

/** Whole seconds since the last report of a machine that is away; at least 1, since 0 says that it is online. */
function silentSeconds({ isConnected, lastSeenAt }: Machine, now: Date): number {
  return isConnected ? 0 : Math.max(1, Math.floor((now.getTime() - lastSeenAt.getTime()) / 1000));
}

function moment(at: Date | undefined): number | null {
  return at === undefined ? null : epochSeconds(at);
}

function hardwareFields(machine: Machine) {
  const { facts, gpu } = machine;
  return {
    hostname: facts.hostname || null,
    is_simulated: facts.is_simulated,
    num_gpus: gpu === undefined ? 0 : machine.presentCount,
    gpu_name: gpu?.name ?? "CPU",
    gpu_ram: gpu?.memory_mb ?? 0,
    total_flops: gpu === undefined ? 0 : Number((gpu.tflops * machine.presentCount).toPrecision(12)),
    cpu_cores: facts.cpu_cores,
    cpu_name: facts.cpu_name,
    cpu_ram: Math.round(facts.memory_bytes / BYTES_PER_MB),
    disk_space: gigabytes(facts.disk_bytes),
    avail_disk_space: gigabytes(freeDiskBytes({ machine })),
    driver_version: facts.driver_version,
    cuda_max_good: facts.cuda_max_good,
    inet_up: facts.inet_up_mbps,
    inet_down: facts.inet_down_mbps,
    public_ipaddr: facts.public_ipaddr,
    geolocation: facts.geolocation,
  };
}

function listingFields({ hosted: { isListed, terms }, machine, holders, space }: ShownMachine, now: Date) {
  const usableCount = machine.devices.filter((device) => device.isUsable).length;
  return {
    listed: isListed,
    rentable: isOpen(machine, now) && holders.size < usableCount,
    listed_gpu_cost: toDollars(terms.priceDeviceNanosPerHour),
    min_bid_price: toDollars(terms.priceMinBidNanosPerHour),
    listed_storage_cost: toDollars(terms.priceDiskNanosPerGbMonth),
    listed_volume_cost: space === undefined ? null : toDollars(space.priceNanosPerGbMonth),
    listed_inet_up_cost: toDollars(terms.priceInetUpNanosPerGb),
    listed_inet_down_cost: toDollars(terms.priceInetDownNanosPerGb),
    credit_discount_max: terms.creditDiscountMaxPermille / 1000,
    min_chunk: terms.minChunk,
    end_date: epochSeconds(terms.offerEndAt),
    duration: terms.offerDurationS ?? null,
  };
}

/** The word for a rental's kind, by which a machine's rentals are counted. */
function kindOf({ isBid, discountPpm }: Rental): "interruptible" | "reserved" | "on_demand" {
  if (isBid) return "interruptible";
  return discountPpm > 0 ? "reserved" : "on_demand";
}

const LETTERS = { on_demand: "D", reserved: "R", interruptible: "I" } as const;

function rentalFields({ rentals, holders, machine }: ShownMachine) {
  const running = rentals.filter((rental) => rental.phase === "starting" || rental.phase === "running");
  const ends = rentals.map((rental) => epochSeconds(rental.endAt));
  return {
    gpu_occupancy: occupancyOf(machine, holders),
    rented_devices: holders.size,
    num_renters: new Set(rentals.map((rental) => rental.userId)).size,
    current_rentals_running: running.length,
    current_rentals_running_on_demand: running.filter((rental) => kindOf(rental) === "on_demand").length,
    current_rentals_on_demand: rentals.filter((rental) => kindOf(rental) === "on_demand").length,
    current_rentals_reserved: rentals.filter((rental) => kindOf(rental) === "reserved").length,
    current_rentals_interruptible: rentals.filter((rental) => kindOf(rental) === "interruptible").length,
    current_rentals_resident: rentals.length,
    client_end_date: ends.length === 0 ? null : Math.max(...ends),
  };
}

/** One letter for each GPU in the order of their places; `x` for a GPU that no renter holds. */
function occupancyOf(machine: Machine, holders: ShownMachine["holders"]): string {
  const gpus = machine.devices.filter(({ kind, isPresent }) => kind === "gpu" && isPresent);
  const letters = gpus
    .toSorted((a, b) => a.position - b.position)
    .map(({ id }) => {
      const rental = holders.get(id);
      return rental === undefined ? "x" : LETTERS[kindOf(rental)];
    });
  return letters.join(" ");
}

function earningFields({ earnings, machine, rentals }: ShownMachine, now: Date) {
  const today = dayOf(now);
  return {
    earn_hour: toDollars(earnedPerHour(rentals, machine)),
    earn_day: toDollars(totalOf(earnings, machine.id, { first: today, last: today })),
    earn_month: toDollars(totalOf(earnings, machine.id, { first: 0, last: today })),
  };
}

function viewSpace({ id, sizeBytes, rentedBytes, priceNanosPerGbMonth, endAt }: SpaceOf) {
  return {
    id,
    size: gigabytes(sizeBytes),
    rented: gigabytes(rentedBytes),
    storage_cost: toDollars(priceNanosPerGbMonth),
    end_date: epochSeconds(endAt),
  };
}

function gigabytes(bytes: bigint | number): number {
  return Math.round((Number(bytes) / BYTES_PER_GB) * 10) / 10;
}

export function viewJob(job: Omit<DefaultJob, "machineId">): SaidJob {
  return {
    image: job.image,
    args: [...job.args],
    price_gpu: toDollars(job.priceDeviceNanosPerHour),
    price_inetu: toDollars(job.priceInetUpNanosPerGb),
    price_inetd: toDollars(job.priceInetDownNanosPerGb),
  };
}

export function viewMaintenance(maintenance: Maintenance): MaintenanceRecord {
  const { id, machineId, startAt, endAt, category, reason, createdAt } = maintenance;
  return {
    id,
    machine_id: machineId,
    start_time: epochSeconds(startAt),
    end_time: epochSeconds(endAt),
    duration_hours: (endAt.getTime() - startAt.getTime()) / HOUR_MS,
    maintenance_category: category,
    maintenance_reason: reason,
    created_at: epochSeconds(createdAt),
    cancelled_at: null,
  };
}

export function viewReport({ problem, message, createdAt }: Report) {
  return { problem, message, created_at: epochSeconds(createdAt) };
}

/**
 * The report of a host's earnings. `current` is the content of the next payout invoice if it were made now: the balance,
 * its fee, and the rest.
 */
export function viewEarnings(
  user: User,
  {
    days,
    sums,
    reliability,
    current: { balance, fee, credit },
  }: {
    readonly days: Days;
    readonly sums: readonly EarningSum[];
    readonly reliability: Reliability;
    readonly current: { readonly balance: Nanos; readonly fee: Nanos; readonly credit: Nanos };
  },
): EarningsResponse {
  return {
    sday: days.first,
    eday: days.last,
    ...viewReportHeading(user),
    current: {
      balance: toDollars(balance),
      service_fee: toDollars(fee),
      total: toDollars(balance - fee),
      credit: toDollars(credit),
    },
    ...viewEarned(sums, reliability),
  };
}

/** Sums of earnings in all, by machine and by day, without machines and days that earned nothing. */
export function viewEarned(sums: readonly EarningSum[], reliability: Reliability) {
  const all = earnedBy(sums);
  const byDay = Map.groupBy(sums, (sum) => sum.day);
  const byMachine = Map.groupBy(sums, (sum) => sum.machineId);
  return {
    summary: {
      total_gpu: all.gpu_earn,
      total_stor: all.sto_earn,
      total_bwu: all.bwu_earn,
      total_bwd: all.bwd_earn,
      total_sla: all.sla_earn,
      avg_reliability: meanReliability(reliability),
    },
    per_machine: [...byMachine].flatMap(([id, own]) =>
      id === undefined ? [] : [{ machine_id: id, ...earnedBy(own), reliability: reliability.get(id) ?? null }],
    ),
    per_day: [...byDay].map(([day, own]) => ({ day, ...earnedBy(own), reliability: null })),
  };
}
