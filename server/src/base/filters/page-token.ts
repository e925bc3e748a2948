import { invalid } from "../errors.ts";
import { invariant } from "../invariant.ts";
import { castValue } from "./cast-value.ts";
import { findColumn, type ColumnType, type ColumnTypes, type FilterScalar, type SortKey } from "./filter.ts";

/** The type of a value of a place; with `?` the value may be null. */
type PlaceType = ColumnType | `${ColumnType}?`;

/** A list that is read page by page: its tokens belong to no other list, order or direction. */
export type PagedList<Types extends readonly PlaceType[] = readonly PlaceType[]> = {
  readonly name: string;
  /** Types of the values of a place. */
  readonly types: Types;
};

type ValueOf<Type> = Type extends `${infer Bare}?`
  ? ValueOf<Bare> | null
  : Type extends "text"
    ? string
    : Type extends "boolean"
      ? boolean
      : number;

/** The place of a row in a list: its values for the order, of which the last tells any two rows apart. */
export type PlaceIn<Types extends readonly PlaceType[]> = { readonly [Index in keyof Types]: ValueOf<Types[Index]> };

/** A place in a list whose order is known at run time only. */
export type Place = readonly FilterScalar[];

/** The list of rows in this order, whose last column is never null. */
export function listInOrder(name: string, order: readonly SortKey[], columns: ColumnTypes): PagedList {
  const types = order.map(({ column: named }, index): PlaceType => {
    const column = findColumn(columns, named);
    invariant(column !== undefined, `the order names ${named}, which is not a column`);
    return index === order.length - 1 ? column.type : `${column.type}?`;
  });
  return { name: [name, ...order.map(({ column, direction }) => `${column} ${direction}`)].join(":"), types };
}

/** A place as clients get it; they send it back to ask for the rows after it. */
export function writePageToken<const Types extends readonly PlaceType[]>(
  { name }: PagedList<Types>,
  place: PlaceIn<Types>,
): string {
  return Buffer.from(JSON.stringify([name, ...place])).toString("base64url");
}

/** The length of a request's head in Node, which no token exceeds. */
const TOKEN_LENGTH_MAX = 16_384;

/** The place of a token of this list, undefined without a token. Throws `invalid_token` for any other text. */
export function readPageToken<const Types extends readonly PlaceType[]>(
  { name, types }: PagedList<Types>,
  token: string | undefined,
): PlaceIn<Types> | undefined {
  if (token === undefined || token === "") return undefined;
  const parsed = parseToken(token);
  if (!Array.isArray(parsed) || parsed[0] !== name || parsed.length !== types.length + 1) throw invalidToken();
  const place: readonly unknown[] = parsed.slice(1);
  if (!types.every((type, index) => isOfType(place[index], type))) throw invalidToken();
  return place as PlaceIn<Types>;
}

function parseToken(token: string): unknown {
  if (token.length > TOKEN_LENGTH_MAX) return undefined;
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

function isOfType(value: unknown, type: PlaceType): boolean {
  if (value === null) return type.endsWith("?");
  const bare = TYPES.find((one) => type === one || type === `${one}?`);
  return bare !== undefined && castValue(value, bare, "strict") === value;
}

const TYPES: readonly ColumnType[] = ["integer", "number", "text", "boolean", "time"];

/** The error for a token whose place cannot be one of its list. */
export function invalidToken(): Error {
  return invalid("after_token", "after_token is not one that this list gave out", "invalid_token");
}
