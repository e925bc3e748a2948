import type { BackupStatus } from "../backup.ts";

type File = { readonly attempt: number; readonly isDraft: boolean };
export type Stand = { readonly status: BackupStatus; readonly attempt: number; readonly isFileDeleted: boolean };

/**
 * True for a file of which nothing will be read any more. A file without a row is left alone: the database may be one that
 * was set back, and the file all that is left of a renter's work.
 */
export function isLeftOver({ attempt, isDraft }: File, stand: Stand | undefined): boolean {
  if (stand === undefined) return false;
  if (attempt !== stand.attempt || stand.status === "error" || stand.isFileDeleted) return true;
  // A newest attempt has a draft while it lasts, and a whole file a moment before its row says so.
  return isDraft && stand.status === "success";
}
