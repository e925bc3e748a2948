import { invalid } from "../errors.ts";
import type { FilterScalar } from "./filter.ts";

/** The place of a row in an ordered list: its value for each key of the order, the id last. */
export type Place = readonly FilterScalar[];

/** A place as clients get it; they send it back to ask for the rows after it. */
export function writePageToken(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** The place of a token of an order with this many keys; any other text is `invalid`. */
export function readPageToken(token: string, length: number): Place {
  let place: unknown;
  try {
    place = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
  } catch {
    place = undefined;
  }
  if (Array.isArray(place) && place.length === length && typeof place.at(-1) === "number" && place.every(isScalar)) {
    return place;
  }
  throw invalidToken();
}

export function invalidToken(): Error {
  return invalid("after_token", "after_token is not one that this list gave out", "invalid_token");
}

function isScalar(value: unknown): value is FilterScalar {
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
