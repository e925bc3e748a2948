import { invalid, type AppError } from "../../../../base/errors.ts";

/** What a token holds: the place of the last row that was sent, as numbers and words. */
export type TokenParts = readonly (string | number)[];

/** A cursor that says nothing to whoever holds it and is checked when it comes back. `list` names whose it is. */
export function writeToken(list: string, parts: TokenParts): string {
  return Buffer.from(JSON.stringify([list, ...parts])).toString("base64url");
}

const TOKEN_LENGTH_MAX = 256;

/** Reads a token of this list whose parts are of these types; `invalid_token` for any other. Undefined when absent. */
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

/** The answer to a token whose parts are no place in its list. */
export function badToken(): AppError {
  return invalid("after_token", "after_token is not one that this list gave out", "invalid_token");
}
