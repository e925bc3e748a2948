import { createHmac } from "node:crypto";
import { epochSeconds, type Clock } from "../../../base/clock.ts";
import type { InstanceId } from "../../../base/ids.ts";
import type { Assignment } from "./endpoint-router.ts";

/**
 * Seconds for which a worker takes a routed request. Clients go to their worker at once; the rest allows for hosts
 * whose clocks differ from the server's.
 */
const TICKET_SECONDS = 300;

const KEYS_KEPT = 50_000;

/** The fields that a ticket authenticates, in the order of its text. */
export type TicketFields = {
  readonly endpoint: string;
  readonly url: string;
  readonly cost: number;
  readonly reqnum: number;
  readonly request_idx: number;
  readonly expires_at: number;
};

/** The authenticated bytes: a JSON array, since numbers and texts have one spelling each there. */
export function ticketText({ endpoint, url, cost, reqnum, request_idx, expires_at }: TicketFields): string {
  return JSON.stringify(["berth ticket", endpoint, url, cost, reqnum, request_idx, expires_at]);
}

/**
 * Issues tickets: HMAC-SHA256 of one routed request under the token that only the server and its worker know. The
 * published signature covers the worker's URL alone and never expires; published workers ignore the further fields,
 * and Berth's worker demands them.
 */
export class Tickets {
  readonly #clock: Clock;
  readonly #tokenOf: (id: InstanceId) => string;
  readonly #tokens = new Map<InstanceId, string>();

  constructor({ clock, tokenOf }: { readonly clock: Clock; readonly tokenOf: (id: InstanceId) => string }) {
    this.#clock = clock;
    this.#tokenOf = tokenOf;
  }

  /** The ticket fields of the answer of a route. */
  issue(
    said: { readonly endpoint: string; readonly cost: number },
    { workerId, url, reqnum, requestIdx }: Assignment,
  ): { readonly expires_at: number; readonly ticket: string } {
    const expires_at = Math.floor(epochSeconds(this.#clock.now())) + TICKET_SECONDS;
    const { endpoint, cost } = said;
    const text = ticketText({ endpoint, url, cost, reqnum, request_idx: requestIdx, expires_at });
    return { expires_at, ticket: createHmac("sha256", this.#tokenFor(workerId)).update(text).digest("base64url") };
  }

  #tokenFor(id: InstanceId): string {
    const known = this.#tokens.get(id);
    if (known !== undefined) return known;
    if (this.#tokens.size >= KEYS_KEPT) this.#tokens.clear();
    const token = this.#tokenOf(id);
    this.#tokens.set(id, token);
    return token;
  }
}
