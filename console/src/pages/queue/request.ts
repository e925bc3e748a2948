// A standing request in words.
import type { ShownStandingRequest, StandingRequest } from "../../../../sdk/src/index.ts";
import { hourly, money } from "../../text/money.ts";
import { count } from "../../text/size.ts";
import type { StateWord } from "../../text/states.ts";

const STATES: Readonly<Record<StandingRequest["status"], StateWord>> = {
  open: { word: "waiting", tone: "violet", icon: "queue" },
  claimed: { word: "rented", tone: "green", icon: "check" },
  cancelled: { word: "cancelled", tone: "grey", icon: "stop" },
  expired: { word: "time is over", tone: "grey", icon: "clock" },
  failed: { word: "failed", tone: "red", icon: "alert" },
};

export function stateWordOf({ status }: Pick<StandingRequest, "status">): StateWord {
  return STATES[status];
}

/** The search of a request, in the query language where it was written so. */
export function searchOf({ q: { q, ...others } }: Pick<StandingRequest, "q">): string {
  const text = typeof q === "string" ? q : "";
  const rest = Object.keys(others).length === 0 ? "" : JSON.stringify(others);
  return [text, rest].filter((part) => part !== "").join(" ") || "any offer";
}

export function priceOf({ price, max_dph: max }: Pick<StandingRequest, "price" | "max_dph">): string {
  const limit = max === null ? "" : `up to ${hourly(max)}`;
  return [price === null ? "" : `bid ${hourly(price)}`, limit].filter((part) => part !== "").join(", ");
}

/** The thing that an open request waits for: a lower price, an offer, or its turn. */
export function waitingOf(request: ShownStandingRequest): string {
  const { offers_matching: fits, offers_at_any_price: all, cheapest_dph: cheapest, max_dph: max } = request;
  if (fits > 0) return `${count(fits, "offer")} fit now: it is rented within seconds, in the order of the queue.`;
  if (all === 0)
    return "No offer fits at any price. A machine like this has to be listed or become free; or loosen a condition.";
  const more = cheapest === null || max === null ? "" : ` That is ${money(cheapest - max)} an hour above your limit.`;
  return `${count(all, "offer")} fit at a higher price, the cheapest for ${cheapest === null ? "more" : hourly(cheapest)}.${more}`;
}
