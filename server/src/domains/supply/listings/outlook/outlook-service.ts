import { epochSeconds } from "../../../../base/clock.ts";
import { toDollars } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listRentals } from "../../../rental/instances/index.ts";
import { listGpuMachines, type HostedMachine } from "../../hosts/for-listings.ts";
import { listHostIds, listMachines, listMaintenances } from "../../hosts/index.ts";
import { isOpen, listGrantsSince, listRentedDevices, type PastGrant } from "../../market/index.ts";
import { findOwnMachine, noSuchMachine, toMachineId, type HostRequest } from "../own-machine.ts";
import type { CalendarResponse, PriceHintResponse } from "./outlook-schema.ts";
import { bandOf, type PriceBand } from "./rules/price-band.ts";

const DAY_MS = 86_400_000;
const DAYS_BACK = 90;
/** Rentals of single GPUs in one calendar, the newest. */
const GRANTS_MAX = 5_000;

/** The rentals of a machine's GPUs for 90 days back, with the agreed ends ahead. Throws `no_such_machine`. */
export async function readCalendar(db: Reader, now: Date, request: HostRequest): Promise<CalendarResponse> {
  const { id } = await requireOwn(db, request);
  const machine = (await listMachines(db, [id])).get(id);
  if (machine === undefined) throw noSuchMachine(id);
  const from = new Date(now.getTime() - DAYS_BACK * DAY_MS);
  const found = await listGrantsSince(
    db,
    { deviceIds: machine.devices.map((device) => device.id), since: from },
    GRANTS_MAX + 1,
  );
  const grants = Map.groupBy(found.slice(0, GRANTS_MAX), ({ deviceId }) => deviceId);
  const rentals = new Map((await listRentals(db, [id])).map((rental) => [rental.id, rental]));
  const viewGrant = ({ instanceId, isBid, grantedAt, releasedAt }: PastGrant) => {
    const rental = releasedAt === undefined ? rentals.get(instanceId) : undefined;
    const isReserved = !isBid && rental !== undefined && rental.discountPpm > 0;
    return {
      from: epochSeconds(grantedAt < from ? from : grantedAt),
      until: releasedAt === undefined ? null : epochSeconds(releasedAt),
      kind: isBid ? ("interruptible" as const) : isReserved ? ("reserved" as const) : ("on_demand" as const),
      ends_at: rental === undefined ? null : epochSeconds(rental.endAt),
    };
  };
  return {
    success: true,
    machine_id: id,
    from: epochSeconds(from),
    now: epochSeconds(now),
    listed_until: machine.isListed ? epochSeconds(machine.offerEndAt) : null,
    gpus: machine.devices.map(({ id: deviceId, position, gpu, isPresent }) => ({
      ...{ position, gpu_name: gpu?.name ?? "", is_present: isPresent },
      intervals: (grants.get(deviceId) ?? []).toReversed().map(viewGrant),
    })),
    maintenances: (await listMaintenances(db, [id], now)).map(({ startAt, endAt }) => ({
      ...{ from: epochSeconds(startAt), until: epochSeconds(endAt) },
    })),
    is_cut: found.length > GRANTS_MAX,
  };
}

/** The price of a machine beside those of other hosts for GPUs of its model. Throws `no_such_machine`. */
export async function readPriceHint(db: Reader, now: Date, request: HostRequest): Promise<PriceHintResponse> {
  const { id } = await requireOwn(db, request);
  const machines = await listGpuMachines(db);
  const own = machines.find((machine) => machine.id === id);
  const described = (await listMachines(db, [id])).get(id);
  if (described === undefined) throw noSuchMachine(id);
  const alike = machines.filter(({ gpuName }) => gpuName === own?.gpuName);
  const hosts = await listHostIds(
    db,
    alike.map((machine) => machine.id),
  );
  const others = new Map(
    alike.flatMap((machine) => {
      const hostId = hosts.get(machine.id);
      return hostId === undefined || hostId === request.hostId ? [] : [[machine.id, { machine, hostId }] as const];
    }),
  );
  const rented = (await listRentedDevices(db)).flatMap(({ machineId, priceNanosPerDeviceHour: price, count }) => {
    const hostId = others.get(machineId)?.hostId;
    return hostId === undefined ? [] : [{ machineId, hostId, price, count }];
  });
  const taken = new Map<number, number>();
  for (const { machineId, count } of rented) taken.set(machineId, (taken.get(machineId) ?? 0) + count);
  const asked = [...others.values()].flatMap(({ machine, hostId }) => {
    const count = Math.max(0, machine.usableCount - (taken.get(machine.id) ?? 0));
    return isOpen(machine, now) ? [{ hostId, price: machine.priceDeviceNanosPerHour, count }] : [];
  });
  return {
    success: true,
    machine_id: id,
    gpu_name: own?.gpuName ?? "",
    price_gpu: toDollars(described.priceDeviceNanosPerHour),
    asked: viewBand(bandOf(asked)),
    rented: viewBand(bandOf(rented)),
  };
}

async function requireOwn(db: Reader, { hostId, machineId }: HostRequest): Promise<HostedMachine> {
  const id = toMachineId(machineId);
  const own = id === undefined ? undefined : await findOwnMachine(db, hostId, id);
  if (own === undefined) throw noSuchMachine(machineId);
  return own;
}

function viewBand(band: PriceBand): PriceHintResponse["asked"] {
  const counts = { gpu_count: band.gpuCount, host_count: band.hostCount };
  if (band.kind === "withheld") return { ...counts, withheld: true };
  const { p10, p25, p50, p75, p90 } = band.percentiles;
  return {
    ...counts,
    ...{ p10: toDollars(p10), p25: toDollars(p25), p50: toDollars(p50), p75: toDollars(p75), p90: toDollars(p90) },
  };
}
