import type { Hello } from "../../../../../../protocol/index.ts";
import { conflict, invalid, type AppError } from "../../../../base/errors.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { MachineId, ServerId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { defaultListing } from "../terms/rules/listing.ts";
import {
  insertMachines,
  isAnyDeviceTaken,
  lockKnownMachines,
  nameOf,
  replaceDevices,
  turnIntoGpuMachine,
  updateMachines,
  type Arrival,
  type KnownMachine,
  type SaidDevice,
} from "./registration-store.ts";
import { deleted, leaseEnd, LEASE_MS } from "../service.ts";
import { openSpans } from "../presence/span-store.ts";
import type { Credential, Registration } from "../store.ts";

/** Stores the machine description that an agent sends when it connects; a new machine gets a default listing. */
export async function registerMachine(
  tx: Tx,
  credential: Credential,
  hello: Hello,
  leaseMs = LEASE_MS,
): Promise<Registration> {
  const arrival = { credential, hello };
  refuseImpossibleGpus(hello);
  const known = await lockKnownMachines(tx, [arrival]);
  if (known.get(nameOf(arrival))?.isDeleted === true) throw deleted();
  const [registration] = await registerMachines(tx, [arrival], { known, leaseMs, serverId: undefined });
  invariant(registration !== undefined, "each machine that arrives is registered");
  return registration;
}

/**
 * Registers many machines in their order: when a server starts, all its machines connect at once. `known` are the
 * machines that came before; the caller has locked their rows. Each name comes once, and the caller has checked the
 * GPUs.
 */
export async function registerMachines(
  tx: Tx,
  arrivals: readonly Arrival[],
  {
    known,
    leaseMs,
    serverId,
  }: {
    readonly known: ReadonlyMap<string, KnownMachine>;
    readonly leaseMs: number;
    readonly serverId: ServerId | undefined;
  },
): Promise<readonly Registration[]> {
  if (arrivals.length === 0) return [];
  const place = { serverId, leaseUntil: leaseEnd(tx.now, leaseMs) };
  const returning = arrivals.flatMap((arrival) => {
    const before = known.get(nameOf(arrival));
    return before === undefined ? [] : [{ ...before, ...arrival }];
  });
  for (const { id, resourceType, hello } of returning) {
    if (resourceType === "cpu" && hello.gpus.length > 0)
      await turnIntoGpuMachine(tx, id, defaultListing(hello, tx.now));
  }
  await openSpans(
    tx,
    returning.map(({ id }) => id),
    leaseMs,
  );
  const sessions = new Map(
    (await updateMachines(tx, returning, place)).map(({ machineId, sessionNumber }) => [machineId, sessionNumber]),
  );
  const newcomers = arrivals.filter((arrival) => !known.has(nameOf(arrival)));
  const newIds = await insertMachines(
    tx,
    newcomers.map((arrival) => ({ ...arrival, listing: defaultListing(arrival.hello, tx.now) })),
    place,
  );
  await openSpans(tx, [...newIds.values()], leaseMs);
  const registered = arrivals.map((arrival) => {
    const before = known.get(nameOf(arrival));
    const machineId = before?.id ?? newIds.get(nameOf(arrival));
    invariant(machineId !== undefined, "a machine that was stored has an id");
    return { machineId, sessionNumber: sessions.get(machineId) ?? 0, hello: arrival.hello, before };
  });
  await storeDevices(tx, registered);
  return registered.map(({ machineId, sessionNumber }) => ({ machineId, sessionNumber }));
}

type Registered = { readonly machineId: MachineId; readonly hello: Hello; readonly before: KnownMachine | undefined };

async function storeDevices(tx: Tx, registered: readonly Registered[]): Promise<void> {
  const said = registered.flatMap(({ machineId, hello, before }) =>
    // A machine that rented out GPUs and shows none now is broken: it is out of the market instead of renting out its
    // cores.
    before?.resourceType === "gpu" || hello.gpus.length > 0
      ? gpuDevices(machineId, hello)
      : coreDevices(machineId, hello),
  );
  if (new Set(said.map(({ uuid }) => uuid)).size < said.length) throw deviceTaken();
  await replaceDevices(
    tx,
    registered.map(({ machineId }) => machineId),
    said,
  );
  // Checked after the insert: a concurrent arrival that names the same device has committed, or waits for this
  // transaction.
  if (await isAnyDeviceTaken(tx, said)) throw deviceTaken();
}

function deviceTaken(): AppError {
  return conflict("device_taken", "A GPU of this machine is already known as part of another machine.");
}

const CORE_PREFIX = "cpu-";

/** Checked before anything is stored and before other arrivals wait for it. */
export function refuseImpossibleGpus({ gpus }: Hello): void {
  const uuids = new Set(gpus.map((gpu) => gpu.uuid));
  if (uuids.size < gpus.length) throw invalid("gpus", "Two GPUs of this machine have the same uuid.");
  // The server names CPU cores itself: a host that took such a name could keep another machine from the market.
  const isOurs = gpus.some((gpu) => gpu.uuid.startsWith(CORE_PREFIX));
  if (isOurs) throw invalid("gpus", `The uuid of a GPU must not begin with ${CORE_PREFIX}`);
}

function gpuDevices(machineId: MachineId, { gpus }: Hello): readonly SaidDevice[] {
  return gpus.map((gpu) => ({ machineId, uuid: gpu.uuid, kind: "gpu", position: gpu.index, facts: gpu }));
}

function coreDevices(machineId: MachineId, { machine }: Hello): readonly SaidDevice[] {
  return Array.from({ length: machine.cpu_cores }, (_, position) => ({
    machineId,
    uuid: `${CORE_PREFIX}${machineId}-${position}`,
    kind: "cpu_core",
    position,
    facts: {},
  }));
}
