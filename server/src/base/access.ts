import { forbidden, type AppError } from "./errors.ts";
import type { Constraints, Identity, PermissionCategory } from "./identity.ts";

/** The callers of a route, and the name of its calls in permission documents, limits and the audit log. */
export type RouteAccess = {
  /** `api.<resource>.<action>`, unique per route except for aliases. */
  readonly operation: string;
  /** A second path or method of an operation that another route has already: same permission, limits and constraints. */
  readonly isAlias?: boolean;
  /**
   * `public` looks at no key; `optional` needs none, but one that is sent must be valid; `any` needs a valid key and no
   * category; `admin` needs an administrator's.
   */
  readonly permission: PermissionCategory | "public" | "optional" | "any" | "admin";
  /**
   * A second category that the key must have as well, since the call has effects that this category guards: a worker group
   * rents machines and runs images on them.
   */
  readonly alsoNeeds?: PermissionCategory;
  /** The category that a key must have when one is sent, for `optional`. Without it every valid key will do. */
  readonly keyPermission?: PermissionCategory;
  /**
   * For `admin`: an administrator's key whose permissions name this operation under `misc` may call it, too. Programs that
   * read something of the whole market need no key that opens all of it.
   */
  readonly isNarrowable?: true;
  /** The key may also come as `api_key` in the body. */
  readonly isKeyInBody?: true;
  /** Set on a DELETE that gives credit to another account, so that a frozen account may not call it. */
  readonly movesMoney?: true;
  /** The limit of the configuration that applies; `default` when absent. */
  readonly limit?: LimitName;
};

export type LimitName = "default" | "keys" | "money";

/** Operations that the key inside a container may call, on its own instance only. */
const INSTANCE_KEY_OPERATIONS: ReadonlySet<string> = new Set([
  "api.instance.show",
  "api.instance.update",
  "api.instance.reboot",
  "api.instance.destroy",
]);

/**
 * Operations that the key inside a container may call on the deployment that its instance works for. No parameter names
 * the deployment, so the handlers of these look it up and refuse every other (`api.deployment.download`).
 */
const WORKPLACE_OPERATIONS: ReadonlySet<string> = new Set(["api.deployment.download"]);

/** Operations whose answer the handler narrows to what the key may see, so that no parameter has to name its instance. */
const NARROWED_OPERATIONS: ReadonlySet<string> = new Set(["api.event.follow"]);

/** Operations that the key inside a container may call without naming its instance. */
function isOpenToInstances(operation: string): boolean {
  return WORKPLACE_OPERATIONS.has(operation) || NARROWED_OPERATIONS.has(operation);
}

/** The parameters of one part of a request: its path, its query or its body. */
export type Parameters = Readonly<Record<string, unknown>>;

/** A part of a request as parameters; anything but an object has none. */
export function asParameters(part: unknown): Parameters {
  return typeof part === "object" && part !== null && !Array.isArray(part) ? (part as Parameters) : {};
}

/** The refusal of an operation that this key may not call, if any. Constraints are checked later, on the body. */
export function refuseOperation(identity: Identity, access: RouteAccess): AppError | undefined {
  const { operation } = access;
  const permission = requiredOf(access);
  if (permission === "public") return undefined;
  if (identity.instanceId !== undefined) {
    return INSTANCE_KEY_OPERATIONS.has(operation) || isOpenToInstances(operation)
      ? undefined
      : forbidden(`This key belongs to one instance and may not call ${operation}.`);
  }
  if (permission === "admin") {
    return isUnscopedAdmin(identity) || isNarrowedTo(identity, access)
      ? undefined
      : forbidden("This operation is for administrators.");
  }
  if (permission === "any" || identity.permissions === undefined) return undefined;
  for (const needed of categoriesOf(permission, access)) {
    const category = identity.permissions.api?.[needed];
    if (category === undefined) return forbidden(`This key does not have the permission ${needed}.`);
    const isWhole = Object.keys(category).length === 0;
    if (!isWhole && category[operation] === undefined) {
      return forbidden(`This key's permission ${needed} does not include ${operation}.`);
    }
  }
  return undefined;
}

function categoriesOf(permission: PermissionCategory, { alsoNeeds }: RouteAccess): readonly PermissionCategory[] {
  return alsoNeeds === undefined ? [permission] : [permission, alsoNeeds];
}

/**
 * The refusal of a call whose parameters leave the key's constraints; undefined when they stay within. A parameter that
 * comes in several parts of the request must satisfy them in each: which part a handler reads cannot matter then.
 */
export function refuseParameters(
  identity: Identity,
  access: RouteAccess,
  parts: readonly Parameters[],
): AppError | undefined {
  const permission = requiredOf(access);
  if (permission === "public") return undefined;
  const { instanceId, permissions } = identity;
  if (instanceId !== undefined) {
    if (isOpenToInstances(access.operation)) return undefined;
    const ids = valuesOf("id", parts);
    const isOwn = ids.length > 0 && ids.every((id) => satisfies(id, "eq", instanceId));
    return isOwn ? undefined : forbidden("This key belongs to one instance and may not touch another.");
  }
  if (permission === "admin" || permission === "any") return undefined;
  for (const needed of categoriesOf(permission, access)) {
    const constraints = permissions?.api?.[needed]?.[access.operation]?.constraints;
    const broken = constraints && findBroken(constraints, parts);
    if (broken !== undefined) return forbidden(`This key is constrained: ${broken}.`);
  }
  return undefined;
}

/** An administrator whose key is not narrowed to anything. */
export function isUnscopedAdmin({ isAdmin, permissions, instanceId }: Identity): boolean {
  return isAdmin && permissions === undefined && instanceId === undefined;
}

/** An administrator whose key is narrowed to operations of which this one is named. */
function isNarrowedTo({ isAdmin, permissions }: Identity, { isNarrowable, operation }: RouteAccess): boolean {
  return isAdmin && isNarrowable === true && permissions?.api?.misc?.[operation] !== undefined;
}

/** The permission that a caller with a key needs for this route. */
function requiredOf({ permission, keyPermission }: RouteAccess): PermissionCategory | "public" | "any" | "admin" {
  return permission === "optional" ? (keyPermission ?? "public") : permission;
}

function valuesOf(name: string, parts: readonly Parameters[]): readonly unknown[] {
  return parts.flatMap((part) => (Object.hasOwn(part, name) ? [part[name]] : []));
}

/**
 * The constraint that the parameters break, in words; undefined when they break none. An absent parameter satisfies no
 * constraint: a call must name the values that its key is limited to, so that a default cannot widen it.
 */
function findBroken(constraints: Constraints, parts: readonly Parameters[]): string | undefined {
  for (const [name, comparisons] of Object.entries(constraints)) {
    const values = valuesOf(name, parts);
    for (const [comparison, bound] of Object.entries(comparisons)) {
      const isMet = values.length > 0 && values.every((value) => satisfies(value, comparison, bound));
      if (!isMet) return `${name} ${comparison} ${String(bound)}`;
    }
  }
  return undefined;
}

/** `eq` compares the texts, so that `"7"` in a path equals 7 in a body; `lte` and `gte` compare numbers only. */
export function satisfies(value: unknown, comparison: string, bound: string | number | boolean): boolean {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return false;
  if (comparison === "eq") return String(value) === String(bound);
  const [left, right] = [numberOf(value), numberOf(bound)];
  if (comparison === "lte") return left <= right;
  return comparison === "gte" && left >= right;
}

/** The value as a number; NaN, which compares with nothing, for a value that is no number and no text of one. */
export function numberOf(value: string | number | boolean): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
}
