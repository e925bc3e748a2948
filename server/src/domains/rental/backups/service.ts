import type { Place } from "../../../../../protocol/index.ts";
import { conflict, notFound } from "../../../base/errors.ts";
import type { MachineId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { describeMachines } from "../../supply/hosts/index.ts";
import { listVolumesNearEnd, listVolumesToKeep } from "../../supply/volumes/for-backups.ts";
import { listInstancesNearEnd, listInstancesToKeep } from "../instances/for-backups.ts";
import { startBackupTask, startRestoreTask, type EndedTask, type TaskMeans } from "../tasks/index.ts";
import { NO_FOLDER, type Backup, type BackupSettings, type Cause, type Contract, type NewBackup } from "./backup.ts";
import { chooseBackup } from "./rules/choose-backup.ts";
import {
  countStarted,
  insertBackups,
  listNewest,
  lockQueued,
  setProblemOfLate,
  setProblemOfTask,
  setTask,
  wasBackedUpAtEnd,
} from "./store.ts";

const HOUR_MS = 3_600_000;
/** The files are kept by the host for two days after the end, so that a host that was away may still send them then. */
const [BEFORE_END_MS, AFTER_END_MS] = [24 * HOUR_MS, 48 * HOUR_MS];
/**
 * Attempts to back up one contract at its end, and the time between them: the last one comes after the end, when the
 * instance does not run and no file of it changes.
 */
const [END_ATTEMPTS_MAX, END_ATTEMPT_MS] = [3, 13 * HOUR_MS];
/** A backup that has not come after this time is given up: the host did not answer, or was too slow. */
const LATE_MS = 24 * HOUR_MS;
const LATE = "its host did not send it within a day";
/** Backups that one host sends at a time; the others wait for their turn. */
const STARTED_PER_MACHINE = 2;
/** Rows of one run: those of machines that are away are among them, and must not keep others from their turn. */
const ROWS_PER_RUN = 5_000;
const PROBLEM_LENGTH_MAX = 500;

/** Wants a backup of each instance and volume on a machine; returns how many are new. */
export async function askForBackups(
  tx: Tx,
  settings: BackupSettings | undefined,
  machineId: MachineId | undefined,
): Promise<number> {
  if (settings === undefined) {
    throw conflict("no_backups", "There is no folder for backups: start the server with BERTH_BACKUP_DIR.");
  }
  const known = machineId !== undefined && (await describeMachines(tx.db, [machineId])).has(machineId);
  if (machineId === undefined || !known) throw notFound("no_such_machine", "There is no such machine.");
  const instances = await listInstancesToKeep(tx.db, machineId);
  const volumes = await listVolumesToKeep(tx.db, machineId);
  return insertBackups(tx, [
    ...instances.map((one) => wanted({ kind: "instance", id: one.id }, one, "asked")),
    ...volumes.map((one) => wanted({ kind: "volume", id: one.id }, one, "asked")),
  ]);
}

type Owned = { readonly machineId: MachineId; readonly userId: UserId };

function wanted(contract: Contract, { machineId, userId }: Owned, cause: Cause): NewBackup {
  return { contract, machineId, userId, cause };
}

/** Wants a backup, one that succeeds, of what is on connected machines and about to end; returns how many are new. */
export async function queueAtEnd(tx: Tx): Promise<number> {
  const [from, to] = [new Date(tx.now.getTime() - AFTER_END_MS), new Date(tx.now.getTime() + BEFORE_END_MS)];
  const search = { from, to, limit: ROWS_PER_RUN };
  const attempts = { most: END_ATTEMPTS_MAX, since: new Date(tx.now.getTime() - END_ATTEMPT_MS) };
  const instances = await listInstancesNearEnd(tx.db, {
    ...search,
    unless: wasBackedUpAtEnd("instance", "instances.id", attempts),
  });
  const volumes = await listVolumesNearEnd(tx.db, {
    ...search,
    unless: wasBackedUpAtEnd("volume", "volumes.id", attempts),
  });
  const found = [
    ...instances.map((one) => wanted({ kind: "instance", id: one.id }, one, "contract_end")),
    ...volumes.map((one) => wanted({ kind: "volume", id: one.id }, one, "contract_end")),
  ];
  const isConnected = await connectedAmong(tx.db, found);
  return insertBackups(tx, found.filter(isConnected));
}

/** Asks hosts for backups that wait for their turn; returns how many. */
export async function startQueued(tx: Tx, means: TaskMeans): Promise<number> {
  const queued = await lockQueued(tx, ROWS_PER_RUN);
  const isConnected = await connectedAmong(tx.db, queued);
  const started = new Map(await countStarted(tx.db, [...new Set(queued.map(({ machineId }) => machineId))]));
  let count = 0;
  for (const backup of queued.filter(isConnected)) {
    const { id, machineId, userId, contract } = backup;
    const running = started.get(machineId) ?? 0;
    if (running >= STARTED_PER_MACHINE) continue;
    started.set(machineId, running + 1);
    await setTask(tx, id, await startBackupTask(tx, means, { backupId: id, machineId, userId, source: contract }));
    count += 1;
  }
  return count;
}

async function connectedAmong(db: Reader, places: readonly Owned[]): Promise<(place: Owned) => boolean> {
  const machines = await describeMachines(db, [...new Set(places.map(({ machineId }) => machineId))]);
  return ({ machineId }) => machines.get(machineId)?.isConnected === true;
}

/** Gives up backups that have waited for too long; returns how many. */
export function giveUpLate(tx: Tx): Promise<number> {
  return setProblemOfLate(tx, new Date(tx.now.getTime() - LATE_MS), LATE);
}

/**
 * Gives up backups whose hosts have ended their tasks. The server that has received one has stored it before its host can
 * say so.
 */
export async function concludeBackups(tx: Tx, ended: readonly EndedTask[]): Promise<void> {
  for (const { id, isSuccess, text } of ended) {
    await setProblemOfTask(tx, id, isSuccess ? "its host says that it was sent, and nothing came" : oneLine(text));
  }
}

function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.slice(0, PROBLEM_LENGTH_MAX).toWellFormed() || "its host gave no reason";
}

/** The newest whole backups of this contract id that are the user's: of an instance, of a volume, or of both. */
export async function requireBackups(
  db: Reader,
  settings: BackupSettings | undefined,
  { userId, contractId }: { readonly userId: UserId; readonly contractId: number },
): Promise<readonly Backup[]> {
  const found = settings === undefined ? [] : await listNewest(db, userId, contractId);
  if (found.length > 0) return found;
  const reason = settings === undefined ? NO_FOLDER : "none was made, or its time is over";
  throw notFound(
    "no_such_backup",
    `Contract ${contractId} has no backup: ${reason}. Keep files on a volume, or copy them elsewhere while the instance exists.`,
  );
}

export type RestoreWish = {
  readonly userId: UserId;
  readonly contractId: number;
  readonly path: string;
  readonly destination: Place;
  readonly destinationMachineId: MachineId;
};

/** Has the host of the destination receive files of the caller's backup. */
export async function restore(
  tx: Tx,
  { means, settings }: { readonly means: TaskMeans; readonly settings: BackupSettings | undefined },
  { userId, contractId, path, destination, destinationMachineId }: RestoreWish,
): Promise<void> {
  const { id, contract } = chooseBackup(await requireBackups(tx.db, settings, { userId, contractId }), path);
  const source: Place = { kind: contract.kind, id: contract.id, path };
  await startRestoreTask(tx, means, { backupId: id, userId, source, destination, destinationMachineId });
}
