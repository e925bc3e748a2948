import { CLOUD_COPY_FLAGS } from "../../../../../../../protocol/index.ts";
import { invalid } from "../../../../../base/errors.ts";
import { MAX_ID } from "../../../../../base/ids.ts";

const CLOUD_PATH_LENGTH_MAX = 1024;

/** Reads the direction, which published clients spell in several letter cases; true from the instance to the cloud. */
export function readIsUpload(transfer: string | undefined): boolean {
  const words = (transfer ?? "").trim().toLowerCase();
  if (words === "instance to cloud") return true;
  if (words === "cloud to instance") return false;
  throw invalid("transfer", 'transfer must be "Instance To Cloud" or "Cloud To Instance"');
}

/** Reads `selected`, the id of a connection. */
export function readConnectionId(selected: string | number | undefined): number {
  const id = typeof selected === "number" ? selected : /^\s*\d{1,10}\s*$/.test(selected ?? "") ? Number(selected) : 0;
  if (Number.isInteger(id) && id >= 1 && id <= MAX_ID) return id;
  throw invalid("selected", "selected must be the id of a cloud connection: GET /api/v0/users/cloud/ lists yours");
}

/** Reads a path in the storage: bucket and path, without the slash at its beginning that clients may send. */
export function readCloudPath(value: string | undefined, field: "src" | "dst"): string {
  const text = value ?? "";
  const path = text.replace(/^\/+/, "");
  const parts = path.split("/");
  if (path === "") throw invalid(field, `${field} must begin with the name of a bucket`);
  if (path.length > CLOUD_PATH_LENGTH_MAX) {
    throw invalid(field, `${field} has more than ${CLOUD_PATH_LENGTH_MAX} characters`);
  }
  if (/\p{Cc}/u.test(path) || !path.isWellFormed()) throw invalid(field, `${field} may have no control characters`);
  if (parts.some((part) => part === "." || part === "..")) throw invalid(field, `${field} may not contain . or ..`);
  return path;
}

/** Reads the options of the copying program: each at most once, and only those that change nothing else on the host. */
export function readFlags(flags: readonly string[] | undefined) {
  const asked = new Set((flags ?? []).map((flag) => flag.trim()));
  const unknown = [...asked].find((flag) => !CLOUD_COPY_FLAGS.some((known) => known === flag));
  if (unknown === undefined) return CLOUD_COPY_FLAGS.filter((flag) => asked.has(flag));
  throw invalid("flags", `flags may hold ${CLOUD_COPY_FLAGS.join(", ")} only`);
}
