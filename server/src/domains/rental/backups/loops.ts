import type { Clock } from "../../../base/clock.ts";
import type { InstanceBackupId } from "../../../base/ids.ts";
import type { Loop, LoopStatus } from "../../../base/loop-driver.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { TaskMeans } from "../tasks/index.ts";
import type { BackupSettings } from "./backup.ts";
import { BackupFolder } from "./folder.ts";
import { isLeftOver } from "./rules/left-over.ts";
import { giveUpLate, queueAtEnd, startQueued } from "./service.ts";
import { listStands, markFilesDeleted } from "./store.ts";

const DELETIONS_PER_RUN = 100;
const DAY_MS = 86_400_000;

export const START_BACKUPS_LOOP = "start-backups";

type Deps = {
  readonly database: Database;
  readonly clock: Clock;
  readonly means: TaskMeans;
  readonly settings: BackupSettings | undefined;
};

/** Loops that have backups made in time, and delete those whose time is over. */
export function backupLoops(deps: Deps): readonly Loop[] {
  const { database, clock, means, settings } = deps;
  return [
    {
      name: "queue-backups",
      description: "Wants a backup of each instance and volume whose rental ends within a day, once.",
      everyMs: 60_000,
      run: async () =>
        settings === undefined
          ? {}
          : withTransaction(database, clock, async (tx) => ({ queued: await queueAtEnd(tx) })),
    },
    {
      name: START_BACKUPS_LOOP,
      description: "Asks hosts for wanted backups, and gives up those that have not come within a day.",
      everyMs: 5_000,
      run: () =>
        withTransaction(database, clock, async (tx) => ({
          late: await giveUpLate(tx),
          started: settings === undefined ? 0 : await startQueued(tx, means),
        })),
    },
    {
      name: "delete-backups",
      description: "Deletes files of backups whose days are over, and drafts that a crash has left.",
      everyMs: 600_000,
      run: async () => (settings === undefined ? {} : deleteFiles(deps, settings)),
    },
  ];
}

async function deleteFiles({ database, clock }: Deps, settings: BackupSettings): Promise<LoopStatus> {
  const folder = new BackupFolder(settings.directory);
  const before = new Date(clock.now().getTime() - settings.keptDays * DAY_MS);
  // The rows first: what they name may be read until then, and the files that nothing names are deleted at any later run.
  const expired = await withTransaction(database, clock, (tx) => markFilesDeleted(tx, before, DELETIONS_PER_RUN));
  const files = await folder.list();
  const ids = new Set<InstanceBackupId>(files.map(({ id }) => id));
  const stands = await listStands(database.kysely, [...ids]);
  const leftOver = files.filter((file) => isLeftOver(file, stands.get(file.id)));
  for (const file of leftOver) await folder.remove(file);
  return { expired: expired.length, deleted: leftOver.length };
}
