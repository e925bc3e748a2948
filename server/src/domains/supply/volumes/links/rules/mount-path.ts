import { invalid } from "../../../../../base/errors.ts";

/** Mount path of a volume when the request names none. */
export const DEFAULT_MOUNT_PATH = "/data";

const LENGTH_MAX = 1024;
// The kernel's own trees: nothing may be mounted in them or over them.
const KERNEL_TREES: ReadonlySet<string> = new Set(["proc", "sys", "dev"]);
// Directories without whose image content no container starts; mounts in their subdirectories are allowed.
const SYSTEM_DIRECTORIES: ReadonlySet<string> = new Set(
  ["bin", "boot", "etc", "lib", "lib32", "lib64", "libx32", "run", "sbin", "usr", "var"].map((name) => `/${name}`),
);

/**
 * The normal form of a path inside a container: absolute, single slashes, no `.` segments, no slash at the end. Throws
 * `invalid` naming `field` for `..`, the root, the kernel's directories and characters that a mount option cannot hold.
 */
export function readMountPath(text: string, field: string): string {
  if (text.length > LENGTH_MAX) throw invalid(field, `${field} is longer than ${LENGTH_MAX} characters`);
  if (!text.startsWith("/")) throw invalid(field, `${field} must be an absolute path`);
  // Colons and commas separate the parts of mount options.
  if (/[\p{C}:,]/u.test(text)) throw invalid(field, `${field} must not contain control characters, colons or commas`);
  const segments = text.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw invalid(field, `${field} must not contain ..`);
  const [first] = segments;
  if (first === undefined) throw invalid(field, `${field} must not be the root directory`);
  const path = `/${segments.join("/")}`;
  if (KERNEL_TREES.has(first) || SYSTEM_DIRECTORIES.has(path)) {
    throw invalid(field, `${field}: nothing may be mounted at ${path}`);
  }
  return path;
}
