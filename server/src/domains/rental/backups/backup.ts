import type { InstanceBackupId, InstanceId, MachineId, UserId, VolumeId } from "../../../base/ids.ts";

/** The instance or the volume whose files a backup has. Ids of instances and of volumes are counted apart. */
export type Contract =
  | { readonly kind: "instance"; readonly id: InstanceId }
  | { readonly kind: "volume"; readonly id: VolumeId };

/** Why a backup is made: the operator asked for it, or the rental is about to end. */
export type Cause = "asked" | "contract_end";

export type NewBackup = {
  readonly contract: Contract;
  readonly userId: UserId;
  readonly machineId: MachineId;
  readonly cause: Cause;
};

export type BackupStatus = "pending" | "success" | "error";

export type Backup = NewBackup & {
  readonly id: InstanceBackupId;
  readonly status: BackupStatus;
  /** The reason for which there is none; empty otherwise. */
  readonly problem: string;
  readonly attempt: number;
  readonly sizeBytes: bigint | null;
  readonly createdAt: Date;
  readonly madeAt: Date | null;
};

/** The folder, the size of one backup and the time for which it is kept. */
export type BackupSettings = {
  readonly directory: string;
  readonly limitBytes: number;
  readonly keptDays: number;
};

export const NO_FOLDER = "this service makes no backups, since its operator has set no folder for them";

const DAY_MS = 86_400_000;

/** The time at which the file of a backup is deleted. */
export function keptUntil({ keptDays }: BackupSettings, madeAt: Date): Date {
  return new Date(madeAt.getTime() + keptDays * DAY_MS);
}

/** The name of the one file of a backup, as its owner sees it. */
export function fileNameOf({ kind, id }: Contract): string {
  return `${kind}-${id}.tar.gz`;
}
