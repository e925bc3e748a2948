import { forbidden, invalid, notFound, type AppError } from "../../../base/errors.ts";
import { MAX_ID, asId, type MachineId, type UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { listHosted, type HostedMachine } from "../hosts/for-listings.ts";
import { lockMachines } from "../hosts/index.ts";

/** A request by a host about one machine. */
export type HostRequest = { readonly hostId: UserId; readonly machineId: number };

/** The error for a machine that belongs to another host or does not exist. */
export function notAuthorized(machineId: number): AppError {
  return forbidden(`Machine ${machineId} is not yours.`);
}

export function noSuchMachine(machineId: number): AppError {
  return notFound("no_such_machine", `No such machine id ${machineId}.`);
}

/** The caller's machine, locked: no rental starts on it and nothing of it changes meanwhile. */
export async function lockOwnMachine(
  tx: Tx,
  { hostId, machineId }: HostRequest,
  refusal: (machineId: number) => AppError = noSuchMachine,
): Promise<HostedMachine> {
  const id = toMachineId(machineId);
  // Checked before it is locked, so that other users cannot hold the lock.
  if (id === undefined || (await findOwnMachine(tx.db, hostId, id)) === undefined) throw refusal(machineId);
  await lockMachines(tx, [id]);
  const machine = await findOwnMachine(tx.db, hostId, id);
  if (machine === undefined) throw refusal(machineId);
  return machine;
}

/** The caller's machines, locked in id order before anything of one changes; those of others are left out. */
export async function lockOwnMachines(tx: Tx, hostId: UserId, ids: readonly MachineId[]): Promise<ReadonlySet<number>> {
  const listOwn = async () =>
    (await listHosted(tx.db, { ids })).flatMap((machine) => (machine.hostId === hostId ? [machine.id] : []));
  // Only own machines are locked, so that other users cannot hold the lock.
  await lockMachines(tx, await listOwn());
  return new Set(await listOwn());
}

export async function findOwnMachine(
  db: Reader,
  hostId: UserId,
  machineId: MachineId,
): Promise<HostedMachine | undefined> {
  const [machine] = await listHosted(db, { ids: [machineId] });
  return machine?.hostId === hostId ? machine : undefined;
}

const IDS_MAX = 10_000;

/** Machine ids as clients send them: a list, as JSON too, one number, or several separated by commas. */
export function readMachineIds(given: string | number | readonly number[]): readonly number[] {
  const words = String(given)
    .trim()
    .replace(/^\[|\]$/g, "")
    .split(",");
  const ids = words.flatMap((word) => (word.trim() === "" ? [] : [Number(word)]));
  if (ids.length > IDS_MAX || ids.some((id) => !Number.isInteger(id))) {
    throw invalid("machine_ids", `machine_ids must be a JSON list of at most ${IDS_MAX} machine ids`);
  }
  return ids;
}

/** The id of a machine; undefined for a number that no row can have. */
export function toMachineId(machineId: number): MachineId | undefined {
  return Number.isInteger(machineId) && machineId >= 1 && machineId <= MAX_ID ? asId<MachineId>(machineId) : undefined;
}
