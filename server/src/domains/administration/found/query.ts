import { asId, MAX_ID, type Id } from "../../../base/ids.ts";
import { invalidToken, readPageToken, writePageToken, type PagedList } from "../../../base/filters/page-token.ts";
import { Type } from "typebox";

export const LIMIT_DEFAULT = 25;
const LIMIT_MAX = 100;
const TEXT_LENGTH_MAX = 100;

const Flag = Type.Union([Type.Literal("true"), Type.Literal("false")]);

/** A filter of a list in the query: `true`, `false`, or both when it is absent. */
export const flag = (description: string) =>
  Type.Optional(Type.Unsafe<"true" | "false">({ ...Flag, description, examples: ["true"] }));

export const idFilter = (description: string, example: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID, description, examples: [example] }));

export const textFilter = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX, description, examples: [example] }));

/** Parameters of every list that is read page by page. */
export const PAGE = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMIT_MAX,
      description: `Most entries of one answer, ${LIMIT_MAX} at most; ${LIMIT_DEFAULT} by default`,
      examples: [LIMIT_DEFAULT],
    }),
  ),
  after_token: Type.Optional(Type.String()),
};

/** The flag of a query; undefined when it is absent. */
export function isSet(text: "true" | "false" | undefined): boolean | undefined {
  return text === undefined ? undefined : text === "true";
}

/** A list in which the newest id comes first. */
export type IdList = PagedList<readonly ["integer"]>;

export function listByIds(name: string): IdList {
  return { name, types: ["integer"] };
}

/** The id before which the page of this token begins. Throws `invalid_token`. */
export function placeOf<T extends Id<string>>(list: IdList, token: string | undefined): T | undefined {
  const [id] = readPageToken(list, token) ?? [];
  if (id === undefined) return undefined;
  if (!Number.isInteger(id) || id < 1 || id > MAX_ID) throw invalidToken();
  return asId<T>(id);
}

/** One page of rows of which one more than the limit was read, and the token of the next page. */
export function pageOf<Row extends { readonly id: number }>(
  list: IdList,
  rows: readonly Row[],
  limit: number,
): { readonly page: readonly Row[]; readonly nextToken: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, nextToken: rows.length > limit && last !== undefined ? writePageToken(list, [last.id]) : null };
}
