import { invalid } from "../../../../base/errors.ts";
import { MEMBERSHIPS, OPERATORS } from "../../../../base/filters/filter.ts";
import { isFields, readObject, type Fields } from "./fields.ts";

type FilterValue = string | number | boolean | null;
/**
 * Machine filters that a template stores: `{field: {operator: value}}`. The market knows the fields; this file checks
 * the shape.
 */
export type ExtraFilters = Readonly<Record<string, Readonly<Record<string, FilterValue | readonly FilterValue[]>>>>;

/** Bound of the filters' JSON text in characters. */
export const EXTRA_FILTERS_LENGTH_MAX = 16_384;
const FIELDS_MAX = 64;
const FIELD_NAME = /^[A-Za-z0-9_]{1,64}$/;
const LIST_OPERATORS: readonly string[] = MEMBERSHIPS;

/** Reads filters given as an object or as its JSON text; undefined when absent. */
export function readExtraFilters(fields: Fields, field: string): ExtraFilters | undefined {
  const object = readObject(fields, field, EXTRA_FILTERS_LENGTH_MAX);
  if (object === undefined) return undefined;
  const entries = Object.entries(object);
  if (entries.length > FIELDS_MAX) throw invalid(field, `${field} has more than ${FIELDS_MAX} fields`);
  return Object.fromEntries(
    entries.flatMap(([name, conditions]) => {
      if (!FIELD_NAME.test(name)) throw invalid(field, `${field}: a field name has letters, digits and _ only`);
      if (conditions === null) return [];
      return [[name, readConditions(conditions, `${field}.${name}`)]];
    }),
  );
}

function readConditions(conditions: unknown, path: string) {
  if (!isFields(conditions)) throw invalid(path, `${path} must be an object {operator: value}`);
  return Object.fromEntries(
    Object.entries(conditions).map(([operator, value]): [string, FilterValue | readonly FilterValue[]] => {
      if (!OPERATORS.includes(operator)) {
        throw invalid(path, `${path} has an unknown operator; known are ${OPERATORS.join(", ")}`);
      }
      const spelled = `${path}.${operator}`;
      if (!Array.isArray(value)) return [operator, readValue(value, spelled)];
      if (!LIST_OPERATORS.includes(operator)) throw invalid(spelled, `${spelled} takes one value, not a list`);
      return [operator, value.map((item: unknown) => readValue(item, spelled))];
    }),
  );
}

function readValue(value: unknown, path: string): FilterValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw invalid(path, `${path} must be a text, a number or a boolean`);
}

/** Merges filters by field: a field that the request names has the request's conditions only. */
export function mergeExtraFilters(template: ExtraFilters, request: ExtraFilters): ExtraFilters {
  return Object.fromEntries([...Object.entries(template), ...Object.entries(request)]);
}
