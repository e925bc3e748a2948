import { invalid } from "../../../../../base/errors.ts";

const PATH_BYTES_MAX = 4_095;
const NAME_BYTES_MAX = 255;

/**
 * Reads a path within an instance: absolute, without `..`, which would mean something else behind a link. Every other
 * character but zero is a part of some name.
 */
export function readFilePath(value: string, field = "path"): string {
  if (!value.startsWith("/")) throw invalid(field, `${field} must be absolute: it begins with a slash.`);
  if (value.includes("\0")) throw invalid(field, `${field} has a zero character, which no name has.`);
  const parts = value.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw invalid(field, `${field} may not contain "..".`);
  const path = `/${parts.join("/")}`;
  const isLong =
    Buffer.byteLength(path) > PATH_BYTES_MAX || parts.some((part) => Buffer.byteLength(part) > NAME_BYTES_MAX);
  if (isLong) {
    throw invalid(
      field,
      `${field} is longer than ${PATH_BYTES_MAX} bytes, or one of its names than ${NAME_BYTES_MAX}.`,
    );
  }
  return path;
}

/** As `readFilePath`, for something that is made or deleted, which the root cannot be. */
export function readEntryPath(value: string, field = "path"): string {
  const path = readFilePath(value, field);
  if (path === "/") throw invalid(field, `${field} is the root, which is always there.`);
  return path;
}

/** The header that has a browser save a file under its name. Names in other alphabets travel beside a plain one. */
export function attachmentOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1) || "root";
  const plain = name.replaceAll(/[^\w.() -]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
