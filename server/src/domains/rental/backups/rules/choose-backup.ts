import { invalid } from "../../../../base/errors.ts";
import type { Backup } from "../backup.ts";

/** The folder of an instance's own files in its backup. */
const UPPER = /^\/upper(\/|$)/;

/**
 * The backup that a path belongs to, where an instance and a volume of the caller's have the same id: paths below
 * `/upper` are the instance's, any other path is the volume's.
 */
export function chooseBackup(backups: readonly Backup[], path: string): Backup {
  const of = (kind: "instance" | "volume") => backups.find(({ contract }) => contract.kind === kind);
  const [instance, volume] = [of("instance"), of("volume")];
  if (instance !== undefined && UPPER.test(path)) return instance;
  if (volume !== undefined) return volume;
  if (instance !== undefined && path === "/") return instance;
  throw invalid(
    "src_path",
    "Invalid src_path. The files of an instance's backup are below /upper, such as /upper/root/.",
  );
}
