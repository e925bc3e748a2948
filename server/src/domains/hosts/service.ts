import { createHash, randomBytes } from "node:crypto";
import type { Hello } from "../../../../protocol/index.ts";
import { conflict, invalid } from "../../base/errors.ts";
import type { MachineId, UserId } from "../../base/ids.ts";
import type { Tx } from "../../db/transaction.ts";
import { defaultListing } from "./listing.ts";
import {
  findMachineForUpdate,
  insertCredential,
  insertMachine,
  replaceCredentialToken,
  replaceDevices,
  turnIntoGpuMachine,
  updateMachine,
  type Credential,
  type Registration,
} from "./store.ts";

export type { Registration };

/**
 * How long an agent may go on without an acknowledgement before it stops what it runs. Long enough that a restart of the
 * server or a short cut of the line disturbs nobody, short enough that a lost host's GPUs are certain to be idle soon.
 * Configurable, since how long lines are cut differs.
 */
export const LEASE_MS = 600_000;
export const HEARTBEAT_MS = 5_000;
/** What an agent may take beyond its lease until the last process is gone: its tick, the grace of a stop, a slow engine. */
const LEASE_MARGIN_MS = 15_000;

/** When a machine that was heard of now, and never again, has certainly stopped everything. */
export function leaseEnd(now: Date, leaseMs: number): Date {
  return new Date(now.getTime() + leaseMs + LEASE_MARGIN_MS);
}

export const AGENT_TOKEN_PREFIX = "berth_agent_";

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Issues a token for the named credential of a user, making the credential when it is new. Older tokens die. */
export async function issueAgentToken(
  tx: Tx,
  { userId, name, isTrusted }: { userId: UserId; name: string; isTrusted: boolean },
): Promise<string> {
  const token = `${AGENT_TOKEN_PREFIX}${randomBytes(32).toString("base64url")}`;
  const tokenSha256 = hashToken(token);
  const replaced = await replaceCredentialToken(tx, { userId, name, tokenSha256 });
  if (replaced === undefined) await insertCredential(tx, { userId, name, tokenSha256, isTrusted });
  return token;
}

/** Stores what an agent says of its machine when it connects; a new machine gets a default listing. */
export async function registerMachine(
  tx: Tx,
  credential: Credential,
  hello: Hello,
  leaseMs = LEASE_MS,
): Promise<Registration> {
  refuseImpossibleGpus(hello.gpus);
  const leaseUntil = leaseEnd(tx.now, leaseMs);
  const known = await findMachineForUpdate(tx, credential.id, hello.host_key);
  const listing = defaultListing(hello.machine, hello.gpus, tx.now);
  const hasGpus = hello.gpus.length > 0;
  if (known?.resourceType === "cpu" && hasGpus) await turnIntoGpuMachine(tx, known.id, listing);
  const machineId = known?.id ?? (await insertMachine(tx, { credential, hello, listing, leaseUntil }));
  const sessionNumber = known === undefined ? 0 : await updateMachine(tx, known.id, hello, leaseUntil);
  // A machine that rented out GPUs and shows none now is broken: it has nothing to rent out, not cores instead.
  const devices = known?.resourceType === "gpu" || hasGpus ? gpuDevices(hello) : coreDevices(machineId, hello);
  const isOwner = await replaceDevices(tx, machineId, devices);
  if (!isOwner) throw conflict("device_taken", "A GPU of this machine is already known as part of another machine.");
  return { machineId, sessionNumber };
}

const CORE_PREFIX = "cpu-";

function refuseImpossibleGpus(gpus: Hello["gpus"]): void {
  const uuids = new Set(gpus.map((gpu) => gpu.uuid));
  if (uuids.size < gpus.length) throw invalid("gpus", "Two GPUs of this machine have the same uuid.");
  // Cores are named by us: a host that took such a name could keep another machine from the market.
  const isOurs = gpus.some((gpu) => gpu.uuid.startsWith(CORE_PREFIX));
  if (isOurs) throw invalid("gpus", `The uuid of a GPU must not begin with ${CORE_PREFIX}`);
}

function gpuDevices({ gpus }: Hello) {
  return gpus.map((gpu) => ({ uuid: gpu.uuid, kind: "gpu" as const, position: gpu.index, facts: gpu }));
}

function coreDevices(machineId: MachineId, { machine }: Hello) {
  return Array.from({ length: machine.cpu_cores }, (_, position) => ({
    uuid: `${CORE_PREFIX}${machineId}-${position}`,
    kind: "cpu_core" as const,
    position,
    facts: {},
  }));
}
