import { keptUntil, NO_FOLDER, type Backup, type BackupSettings } from "./backup.ts";

const CAUSES = {
  asked: "the operator asked for it",
  contract_end: "the rental was about to end",
} as const;

/** A row of the published list. */
export function viewBackup({ settings }: { readonly settings: BackupSettings | undefined }, backup: Backup) {
  const { id, contract, machineId, status, createdAt } = backup;
  return {
    id,
    contract_id: contract.id,
    type: contract.kind,
    machine_id: machineId,
    status,
    created_at: createdAt.getTime() / 1000,
    info: describe(backup, settings),
  };
}

function describe({ cause, status, problem, madeAt }: Backup, settings: BackupSettings | undefined): string {
  if (status === "error") return problem;
  if (settings === undefined) return NO_FOLDER;
  if (madeAt === null) return CAUSES[cause];
  const until = keptUntil(settings, madeAt).toISOString().slice(0, 10);
  return `${CAUSES[cause]}; kept until ${until}`;
}

/** The sentence on an empty list; undefined where backups are made. */
export function noteOn(settings: BackupSettings | undefined): string | undefined {
  return settings === undefined ? `${NO_FOLDER.charAt(0).toUpperCase()}${NO_FOLDER.slice(1)}.` : undefined;
}
