import type { StandingRequestListAnswer } from "../../../../sdk/src/operations.ts";
import { dollars } from "../../output.ts";

type Request = StandingRequestListAnswer["standing_requests"][number];

/** The search of a request, in the query language where it was written so. */
export function queryText({ q: { q, ...others } }: Pick<Request, "q">): string {
  const text = typeof q === "string" ? q : "";
  const rest = Object.keys(others).length === 0 ? "" : JSON.stringify(others);
  return [text, rest].filter((part) => part !== "").join(" ") || "any offer";
}

export function priceText({ price, max_dph: max }: Pick<Request, "price" | "max_dph">): string {
  const limit = max === null ? "" : `at most ${dollars(max)}`;
  return [price === null ? "" : `bid ${dollars(price)}`, limit].filter((part) => part !== "").join(", ");
}
