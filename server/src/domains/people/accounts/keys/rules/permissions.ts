import { invalid, type AppError } from "../../../../../base/errors.ts";
import {
  PERMISSION_CATEGORIES,
  type Comparison,
  type Constraints,
  type Grant,
  type PermissionCategory,
  type PermissionDocument,
} from "../../../../../base/identity.ts";
import { numberOf } from "../../../../../base/access.ts";

/** A permission document; undefined allows everything. */
export type Permissions = PermissionDocument | undefined;

const OPERATION = /^api(\.[a-z0-9_-]{1,64}){1,4}$/;
const PARAMETER = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const COMPARISONS: ReadonlySet<string> = new Set<Comparison>(["eq", "lte", "gte"]);
/** Far more than there are operations; the limit keeps a document from being used as storage. */
const ENTRIES_MAX = 500;

/**
 * Reads a permission document (docs/contract-rules.md#keys-and-teams), or the short form `{"read": true, "write":
 * false}`, which stands for all `…_read` and all `…_write` categories (`misc` changes things, so it goes with `write`).
 * `{}` grants nothing. An unknown entry is refused with `invalid_permissions`: a rule that is silently dropped would
 * widen the key.
 */
export function parsePermissions(value: unknown): PermissionDocument {
  const document = asObject(value, "permissions");
  if ("read" in document || "write" in document) return parseShortForm(document);
  const { api, ...rest } = document;
  const [unknownKey] = Object.keys(rest);
  if (unknownKey !== undefined) throw refused(`permissions.${unknownKey}`, 'is not known; a document is {"api": {…}}');
  // Stored and shown as it was given.
  if (api === undefined) return {};
  const categories = Object.entries(asObject(api, "permissions.api"));
  const entryCount = categories.reduce((count, [, children]) => count + Object.keys(children ?? {}).length, 0);
  if (entryCount > ENTRIES_MAX) throw refused("permissions.api", `names more than ${ENTRIES_MAX} operations`);
  return { api: Object.fromEntries(categories.map(([name, children]) => parseCategory(name, children))) };
}

/**
 * True when `parent` allows every call that `child` allows. Errs on the side of false: constraints that only together
 * imply the parent's are not recognised.
 */
export function isWithin(child: Permissions, parent: Permissions): boolean {
  if (parent === undefined) return true;
  if (child === undefined) return false;
  return PERMISSION_CATEGORIES.every((category) => {
    const inner = child.api?.[category];
    const outer = parent.api?.[category];
    if (inner === undefined) return true;
    if (outer === undefined) return false;
    if (isEmpty(outer)) return true;
    if (isEmpty(inner)) return false;
    return Object.entries(inner).every(([operation, grant]) => {
      const limit = outer[operation];
      return limit !== undefined && isGrantWithin(grant, limit);
    });
  });
}

function isGrantWithin(inner: Grant, outer: Grant): boolean {
  return Object.entries(outer.constraints ?? {}).every(([parameter, comparisons]) =>
    Object.entries(comparisons).every(([comparison, bound]) =>
      implies(inner.constraints?.[parameter] ?? {}, comparison, bound),
    ),
  );
}

/** True when each value that meets `known` also meets this comparison. */
function implies(known: Constraints[string], comparison: string, bound: string | number | boolean): boolean {
  const { eq, lte, gte } = known;
  if (comparison === "eq") return eq !== undefined && String(eq) === String(bound);
  // A number in a request may come as text or as a number, so only the text of the equal value is certain.
  const equal = eq === undefined ? Number.NaN : numberOf(String(eq));
  if (comparison === "lte") return equal <= numberOf(bound) || (lte !== undefined && numberOf(lte) <= numberOf(bound));
  return equal >= numberOf(bound) || (gte !== undefined && numberOf(gte) >= numberOf(bound));
}

/** The intersection of two documents: a call is within it exactly when it is within both. */
export function intersect(left: Permissions, right: Permissions): Permissions {
  if (left === undefined) return right;
  if (right === undefined) return left;
  const shared = PERMISSION_CATEGORIES.flatMap((category) => {
    const [one, other] = [left.api?.[category], right.api?.[category]];
    if (one === undefined || other === undefined) return [];
    if (isEmpty(one)) return [[category, other] as const];
    if (isEmpty(other)) return [[category, one] as const];
    const children = Object.entries(one).flatMap(([operation, grant]) => {
      const limit = Object.hasOwn(other, operation) ? other[operation] : undefined;
      const both = limit === undefined ? undefined : intersectGrants(grant, limit);
      return both === undefined ? [] : [[operation, both] as const];
    });
    // A category without children would grant all of it.
    return children.length === 0 ? [] : [[category, Object.fromEntries(children)] as const];
  });
  return { api: Object.fromEntries(shared) };
}

/** The grant that both allow; undefined when no value can meet both. */
function intersectGrants(left: Grant, right: Grant): Grant | undefined {
  const merged = new Map(Object.entries(left.constraints ?? {}));
  for (const [parameter, comparisons] of Object.entries(right.constraints ?? {})) {
    const known = merged.get(parameter);
    const both = known === undefined ? comparisons : intersectComparisons(known, comparisons);
    if (both === undefined) return undefined;
    merged.set(parameter, both);
  }
  return merged.size === 0 ? {} : { constraints: Object.fromEntries(merged) };
}

function intersectComparisons(left: Constraints[string], right: Constraints[string]): Constraints[string] | undefined {
  if (left.eq !== undefined && right.eq !== undefined && String(left.eq) !== String(right.eq)) return undefined;
  const tighter = (comparison: "lte" | "gte") => {
    const [one, other] = [left[comparison], right[comparison]];
    if (one === undefined || other === undefined) return one ?? other;
    const isOneTighter = comparison === "lte" ? numberOf(one) <= numberOf(other) : numberOf(one) >= numberOf(other);
    return isOneTighter ? one : other;
  };
  const [eq, lte, gte] = [left.eq ?? right.eq, tighter("lte"), tighter("gte")];
  return {
    ...(eq === undefined ? {} : { eq }),
    ...(lte === undefined ? {} : { lte }),
    ...(gte === undefined ? {} : { gte }),
  };
}

function parseShortForm(document: Readonly<Record<string, unknown>>): PermissionDocument {
  for (const [key, value] of Object.entries(document)) {
    if (key !== "read" && key !== "write") throw refused(`permissions.${key}`, "is not known beside read and write");
    if (typeof value !== "boolean") throw refused(`permissions.${key}`, "must be true or false");
  }
  const { read, write } = document;
  const granted = PERMISSION_CATEGORIES.filter((name) => (name.endsWith("_read") ? read === true : write === true));
  return { api: Object.fromEntries(granted.map((name) => [name, {}])) };
}

function parseCategory(name: string, value: unknown): [PermissionCategory, Record<string, Grant>] {
  const field = `permissions.api.${name}`;
  const category = PERMISSION_CATEGORIES.find((known) => known === name);
  if (category === undefined) throw refused(field, `is no category; there are ${PERMISSION_CATEGORIES.join(", ")}`);
  const children = Object.entries(asObject(value, field)).map(([operation, grant]) => {
    if (!OPERATION.test(operation)) throw refused(`${field}.${operation}`, "is not named like api.<resource>.<action>");
    return [operation, parseGrant(grant, `${field}.${operation}`)] as const;
  });
  return [category, Object.fromEntries(children)];
}

function parseGrant(value: unknown, field: string): Grant {
  const { constraints, ...rest } = asObject(value, field);
  const [unknownKey] = Object.keys(rest);
  if (unknownKey !== undefined) throw refused(`${field}.${unknownKey}`, "is not known; only constraints is");
  if (constraints === undefined) return {};
  const parameters = Object.entries(asObject(constraints, `${field}.constraints`)).map(([parameter, comparisons]) => {
    const path = `${field}.constraints.${parameter}`;
    if (!PARAMETER.test(parameter)) throw refused(path, "is not the name of a parameter");
    return [parameter, parseComparisons(comparisons, path)] as const;
  });
  return parameters.length === 0 ? {} : { constraints: Object.fromEntries(parameters) };
}

function parseComparisons(value: unknown, field: string): Constraints[string] {
  const comparisons = Object.entries(asObject(value, field));
  if (comparisons.length === 0) throw refused(field, "compares with nothing; use eq, lte or gte");
  const parsed = comparisons.map(([comparison, bound]) => {
    const path = `${field}.${comparison}`;
    if (!COMPARISONS.has(comparison)) throw refused(path, "is no comparison; use eq, lte or gte");
    if (typeof bound !== "string" && typeof bound !== "number" && typeof bound !== "boolean") {
      throw refused(path, "must be a string, a number or a boolean");
    }
    if (comparison !== "eq" && Number.isNaN(numberOf(bound))) throw refused(path, "must be a number");
    return [comparison, bound] as const;
  });
  return Object.fromEntries(parsed);
}

function asObject(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refused(field, "must be an object");
  return value as Readonly<Record<string, unknown>>;
}

function isEmpty(children: Readonly<Record<string, Grant>>): boolean {
  return Object.keys(children).length === 0;
}

function refused(field: string, problem: string): AppError {
  return invalid(field, `${field} ${problem}`, "invalid_permissions");
}
