import { epochSeconds } from "../../../base/clock.ts";
import { asId, type InstanceId, type MachineId, type UserId } from "../../../base/ids.ts";
import { toDollars } from "../../../base/money.ts";
import { inSnapshot, type Reader } from "../../../db/transaction.ts";
import type { HttpScope } from "../../../http/server.ts";
import { listAddressesOf } from "../../people/accounts/for-administration.ts";
import { searchInstances, type FoundInstance } from "../../rental/instances/for-administration.ts";
import { searchMachines, type FoundMachine, type MachineSearch } from "../../supply/hosts/for-administration.ts";
import { countReports } from "../../supply/listings/for-administration.ts";
import { countGrantsOfEach } from "../../supply/market/for-administration.ts";
import { isSet, LIMIT_DEFAULT, listByIds, pageOf, placeOf } from "./query.ts";
import {
  InstancesQuery,
  InstancesResponse,
  MachinesQuery,
  MachinesResponse,
  type FoundInstanceRow,
  type FoundMachineRow,
} from "./schema.ts";

const TAGS = ["Administration"];
const MACHINES = listByIds("admin_machines");
const INSTANCES = listByIds("admin_instances");
const PPM = 1e6;
const BYTES_PER_GB = 1e9;

/** Routes by which administrators list machines and instances of everybody. */
export function foundRoutes(scope: HttpScope): void {
  machineRoute(scope);
  instanceRoute(scope);
}

function machineRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/admin/machines/",
    {
      config: { access: { operation: "api.admin.machines", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "List machines of all hosts",
        querystring: MachinesQuery,
        response: { 200: MachinesResponse },
      },
    },
    async ({ query }) => {
      const { limit = LIMIT_DEFAULT, q: text, host_id: hostId, gpu_name: gpuName, verification } = query;
      const search = {
        ...{ text, hostId: hostId === undefined ? undefined : asId<UserId>(hostId), gpuName, verification },
        ...{ isConnected: isSet(query.connected), isListed: isSet(query.listed) },
        ...{ isBroken: isSet(query.broken), isFlagged: isSet(query.flagged) },
        beforeId: placeOf<MachineId>(MACHINES, query.after_token),
        limit: limit + 1,
      };
      const { page, nextToken } = pageOf(MACHINES, await inSnapshot(database, (db) => readMachines(db, search)), limit);
      return { success: true as const, machines: [...page], next_token: nextToken };
    },
  );
}

function instanceRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/admin/instances/",
    {
      config: { access: { operation: "api.admin.instances", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "List instances of all renters",
        querystring: InstancesQuery,
        response: { 200: InstancesResponse },
      },
    },
    async ({ query }) => {
      const { limit = LIMIT_DEFAULT, q: text, renter_id: userId, machine_id: machineId, phase } = query;
      const search = {
        ...{ text, phase, isBid: isSet(query.bid), isOver: isSet(query.over) },
        userId: userId === undefined ? undefined : asId<UserId>(userId),
        machineId: machineId === undefined ? undefined : asId<MachineId>(machineId),
        beforeId: placeOf<InstanceId>(INSTANCES, query.after_token),
        limit: limit + 1,
      };
      const { rows, addresses } = await inSnapshot(database, async (db) => {
        const rows = await searchInstances(db, search);
        return {
          rows,
          addresses: await listAddressesOf(
            db,
            rows.map(({ userId: id }) => id),
          ),
        };
      });
      const { page, nextToken } = pageOf(INSTANCES, rows, limit);
      const instances = page.map((row) => viewInstance(row, addresses.get(row.userId) ?? ""));
      return { success: true as const, instances, next_token: nextToken };
    },
  );
}

async function readMachines(db: Reader, search: MachineSearch): Promise<readonly FoundMachineRow[]> {
  const machines = await searchMachines(db, search);
  const ids = machines.map(({ id }) => id);
  const rented = await countGrantsOfEach(db, ids);
  const reports = await countReports(db, ids);
  const addresses = await listAddressesOf(
    db,
    machines.map(({ hostId }) => hostId),
  );
  return machines.map((machine) => ({
    ...viewMachine(machine),
    host_email: addresses.get(machine.hostId) ?? "",
    rented_count: rented.get(machine.id) ?? 0,
    report_count: reports.get(machine.id) ?? 0,
  }));
}

function viewMachine(machine: FoundMachine) {
  return {
    id: machine.id,
    host_id: machine.hostId,
    hostname: machine.hostname,
    is_simulated: machine.isSimulated,
    gpu_name: machine.gpuName,
    gpu_count: machine.gpuCount,
    sick_count: machine.sickGpuCount,
    absent_count: machine.absentGpuCount,
    geolocation: machine.geolocation,
    agent_version: machine.agentVersion,
    is_connected: machine.isConnected,
    last_seen_at: epochSeconds(machine.lastSeenAt),
    is_listed: machine.isListed,
    verification: machine.verification,
    reliability: machine.reliabilityPpm / PPM,
    price_gpu: toDollars(machine.priceDeviceNanosPerHour),
    end_at: epochSeconds(machine.offerEndAt),
    rests_until: machine.restsUntilAt === undefined ? null : epochSeconds(machine.restsUntilAt),
    flag_count: machine.openFlagCount,
    created_at: epochSeconds(machine.createdAt),
  };
}

function viewInstance(instance: FoundInstance, email: string): FoundInstanceRow {
  return {
    id: instance.id,
    user_id: instance.userId,
    email,
    machine_id: instance.machineId,
    label: instance.label ?? null,
    image: instance.image,
    is_bid: instance.isBid,
    device_count: instance.deviceCount,
    disk_gb: Number(instance.diskBytes) / BYTES_PER_GB,
    dph_total: toDollars(instance.priceNanosPerHour),
    desired: instance.desired,
    phase: instance.phase,
    phase_cause: instance.phaseCause,
    phase_since: epochSeconds(instance.phaseSinceAt),
    status_msg: instance.statusText,
    problem: instance.problem,
    created_at: epochSeconds(instance.createdAt),
    end_at: epochSeconds(instance.endAt),
    ended_at: instance.endedAt === undefined ? null : epochSeconds(instance.endedAt),
  };
}
