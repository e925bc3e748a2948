import { createHash, randomBytes } from "node:crypto";
import type { Hello } from "../../../../protocol/index.ts";
import { conflict } from "../../base/errors.ts";
import type { MachineId, UserId } from "../../base/ids.ts";
import type { Tx } from "../../db/transaction.ts";
import { defaultListing } from "./listing.ts";
import {
  findMachineForUpdate,
  insertCredential,
  insertMachine,
  replaceCredentialToken,
  replaceDevices,
  updateMachine,
  type Credential,
} from "./store.ts";

/**
 * How long an agent may go on without an acknowledgement before it stops what it runs. Long enough that a restart of the
 * server or a short cut of the line disturbs nobody, short enough that a lost host's GPUs are certain to be idle soon.
 */
export const LEASE_MS = 600_000;
export const HEARTBEAT_MS = 5_000;

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Issues a token for the named credential of a user, making the credential when it is new. Older tokens die. */
export async function issueAgentToken(
  tx: Tx,
  { userId, name, isTrusted }: { userId: UserId; name: string; isTrusted: boolean },
): Promise<string> {
  const token = `berth_agent_${randomBytes(32).toString("base64url")}`;
  const tokenSha256 = hashToken(token);
  const replaced = await replaceCredentialToken(tx, { userId, name, tokenSha256 });
  if (replaced === undefined) await insertCredential(tx, { userId, name, tokenSha256, isTrusted });
  return token;
}

/** Stores what an agent says of its machine when it connects; a new machine gets a default listing. */
export async function registerMachine(tx: Tx, credential: Credential, hello: Hello): Promise<MachineId> {
  const leaseUntil = new Date(tx.now.getTime() + LEASE_MS);
  const known = await findMachineForUpdate(tx, credential.id, hello.host_key);
  const listing = defaultListing(hello.machine, hello.gpus, tx.now);
  const id = known?.id ?? (await insertMachine(tx, { credential, hello, listing, leaseUntil }));
  if (known !== undefined) await updateMachine(tx, id, hello, leaseUntil);
  const isOwner = await replaceDevices(tx, id, devicesOf(id, hello));
  if (!isOwner) throw conflict("device_taken", "A GPU of this machine is already known as part of another machine.");
  return id;
}

function devicesOf(machineId: MachineId, { gpus, machine }: Hello) {
  if (gpus.length > 0) {
    return gpus.map((gpu) => ({ uuid: gpu.uuid, kind: "gpu" as const, position: gpu.index, facts: gpu }));
  }
  return Array.from({ length: machine.cpu_cores }, (_, position) => ({
    uuid: `cpu-${machineId}-${position}`,
    kind: "cpu_core" as const,
    position,
    facts: {},
  }));
}
