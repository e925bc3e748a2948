import { invalid, type AppError } from "../../../../base/errors.ts";

/** The content of a token: the place of the last row that was sent, as numbers and words. */
export type TokenParts = readonly (string | number)[];

/** Writes an opaque cursor, which is checked when it comes back. `list` names the list that it belongs to. */
export function writeToken(list: string, parts: TokenParts): string {
  return Buffer.from(JSON.stringify([list, ...parts])).toString("base64url");
}

const TOKEN_LENGTH_MAX = 256;

/**
 * Reads a token of this list with parts of these types; undefined when absent. Throws `invalid_token` for any other
 * token.
 */
export function readToken(
  list: string,
  token: string | undefined,
  types: readonly ("string" | "integer")[],
): TokenParts | undefined {
  if (token === undefined || token === "") return undefined;
  let parsed: unknown;
  try {
    parsed = token.length > TOKEN_LENGTH_MAX ? undefined : JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
  } catch {
    parsed = undefined;
  }
  if (!Array.isArray(parsed) || parsed[0] !== list || parsed.length !== types.length + 1) throw badToken();
  const parts: readonly unknown[] = parsed.slice(1);
  return parts.map((part, index) => {
    const isExpected = types[index] === "string" ? typeof part === "string" : Number.isSafeInteger(part);
    if (!isExpected || (typeof part !== "string" && typeof part !== "number")) throw badToken();
    return part;
  });
}

/** The error for a token whose parts are no place in its list. */
export function badToken(): AppError {
  return invalid("after_token", "after_token is not one that this list gave out", "invalid_token");
}
