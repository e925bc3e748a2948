import { invalid } from "../base/errors.ts";

const DEPTH_MAX = 32;
/** The one member whose NULs are removed instead of refused: some terminals add them to public keys. */
const NUL_FREE_MEMBER = "ssh_key";

/** The problem with a text that PostgreSQL cannot store, and that nobody means to send. */
function problemOf(text: string): string | undefined {
  if (text.includes("\0")) return "a NUL character";
  return text.isWellFormed() ? undefined : "half of a surrogate pair";
}

/**
 * Prepares a parsed JSON value for validation: a `null` member counts as absent (contract: clients send many) unless it is
 * one of `nullMembers` of the body, where `name.*` stands for all members of an object. Text may hold nothing that PostgreSQL
 * cannot store, nesting ends at 32. Changes objects in place and returns the value.
 */
export function sanitize(value: unknown, nullMembers: readonly string[] = []): unknown {
  const kept = isRecord(value) ? nullMembers.flatMap((name) => nullsOf(value, name)) : [];
  const sane = sanitizeAt(value, "", 0);
  for (const { owner, name } of kept) owner[name] = null;
  return sane;
}

function nullsOf(body: Record<string, unknown>, member: string) {
  const [, outer] = /^(.+)\.\*$/.exec(member) ?? [];
  const owner = outer === undefined ? body : body[outer];
  if (!isRecord(owner)) return [];
  const names = outer === undefined ? [member] : Object.keys(owner);
  return names.filter((name) => owner[name] === null).map((name) => ({ owner, name }));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sanitizeAt(value: unknown, path: string, depth: number): unknown {
  if (typeof value === "string") {
    const problem = problemOf(value);
    if (problem !== undefined) throw invalid(path || "body", `${path || "body"} contains ${problem}`);
    return value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEPTH_MAX) throw invalid(path, `${path} is nested more than ${DEPTH_MAX} levels deep`);
  if (Array.isArray(value)) {
    value.forEach((item, index) => sanitizeAt(item, `${path}[${index}]`, depth + 1));
    return value;
  }
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object)) {
    const member = object[key];
    const memberPath = path === "" ? key : `${path}.${key}`;
    const problem = problemOf(key);
    if (problem !== undefined) throw invalid(path || "body", `a key contains ${problem}`);
    if (member === null || member === undefined) delete object[key];
    else if (key === NUL_FREE_MEMBER && typeof member === "string") {
      object[key] = sanitizeAt(member.replaceAll("\0", ""), memberPath, depth + 1);
    } else sanitizeAt(member, memberPath, depth + 1);
  }
  return object;
}

/** Sanitizes a query. Older clients send the text `null` there for an absent value, so it counts as absent. */
export function sanitizeQuery(query: unknown): void {
  sanitize(query);
  if (typeof query !== "object" || query === null) return;
  for (const [name, value] of Object.entries(query)) if (value === "null") Reflect.deleteProperty(query, name);
}
