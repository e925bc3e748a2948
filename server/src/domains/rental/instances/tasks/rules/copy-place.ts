import type { Place } from "../../../../../../../protocol/index.ts";
import { invalid } from "../../../../../base/errors.ts";
import { MAX_ID } from "../../../../../base/ids.ts";

const PATH_LENGTH_MAX = 4096;

const BACKUPS_ARE =
  "a backup is only copied to an instance or a volume; download it with the address from /api/v0/instance_backups/.";

/** A source or destination of a copy, as a request names it: `12` and `C.12` are instances, `V.7` is a volume. */
export type PlaceId = Pick<Place, "kind" | "id">;

/** Reads `src_id` or `dst_id`. The message names forms that clients know and this server does not support. */
export function readPlaceId(value: unknown, field: "src_id" | "dst_id" | "instance_id"): PlaceId {
  if (typeof value === "number") return { kind: "instance", id: checkId(value, field) };
  const text = typeof value === "string" ? value.trim() : "";
  const match = /^(?:([CV])\.)?([1-9]\d{0,9})$/.exec(text);
  if (match !== null) {
    return { kind: match[1] === "V" ? "volume" : "instance", id: checkId(Number(match[2]), field) };
  }
  throw invalid(field, `Invalid ${field}. It must be C.<instance> or V.<volume>: ${reasonFor(text)}`);
}

/** Reads the id of a contract whose backup is a source, written `vast.77`; undefined for any other source. */
export function readBackupId(value: unknown): number | undefined {
  const id = typeof value === "string" ? /^vast\.([1-9]\d{0,9})$/.exec(value.trim())?.[1] : undefined;
  return id === undefined ? undefined : checkId(Number(id), "src_id");
}

function checkId(id: number, field: string): number {
  if (Number.isInteger(id) && id >= 1 && id <= MAX_ID) return id;
  throw invalid(field, `Invalid ${field}.`);
}

function reasonFor(text: string): string {
  if (text === "") return "it is missing.";
  if (text === "local") return "your own computer ends a copy by ending its rsync.";
  if (text.startsWith("vast.")) return BACKUPS_ARE;
  if (/^([CV])\./.test(text)) return "an id is a number from 1 on.";
  return "POST /api/v0/commands/rclone/ copies from and to cloud storage.";
}

/**
 * Reads `src_path` or `dst_path`: absolute within an instance, from the root of a volume. A path without a leading
 * slash begins at the root too. A trailing slash stays: on a source it means its contents.
 */
export function readPath(value: unknown, field: "src_path" | "dst_path" | "src" | "dst"): string {
  const isPath = typeof value === "string" && value !== "" && value.length < PATH_LENGTH_MAX;
  if (!isPath) throw invalid(field, `Invalid ${field}.`);
  const parts = value.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..") || /\p{Cc}/u.test(value)) throw invalid(field, `Invalid ${field}. It may not contain ..`);
  const path = `/${parts.join("/")}`;
  return /\/\.?$/.test(value) && path !== "/" ? `${path}/` : path;
}

/** A copy into itself would never end, and a copy onto itself has no effect. */
export function refuseOverlap(source: Place, destination: Place): void {
  if (source.kind !== destination.kind || source.id !== destination.id) return;
  const [from, to] = [source.path.replace(/\/$/, ""), destination.path.replace(/\/$/, "")];
  if (to === from || to.startsWith(`${from}/`)) {
    throw invalid("dst_path", "Invalid dst_path. It lies within the source.");
  }
}
