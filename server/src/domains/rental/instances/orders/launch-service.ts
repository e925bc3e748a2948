import { AppError, invalid, notFound } from "../../../../base/errors.ts";
import { isPlainObject } from "../../../../base/filters/json-input.ts";
import { priceFound } from "../../../../base/hourly-price.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Repeatable } from "../../../../db/idempotency.ts";
import { refuseUnknownFields } from "../../../supply/market/index.ts";
import type { CreateAnswer } from "./create-answer.ts";
import type { CreateOrder } from "./create-order.ts";
import { createInstances } from "./create.ts";
import type { BulkBody, LaunchBody, SearchOffers } from "./launch-schema.ts";
import type { OrderDesk, Wish } from "./order-desk.ts";

/** The number of offers tried one after the other before the search counts as in vain. */
const ATTEMPTS_MAX = 16;

type Launch = {
  readonly identity: Identity;
  readonly body: LaunchBody;
  readonly repeatable: Repeatable | undefined;
};

/** Searches, and rents the first offer of the result that can still be had. */
export async function launchInstance(
  db: Reader,
  { identity, body, repeatable }: Launch,
  { desk, searchOffers }: { readonly desk: OrderDesk; readonly searchOffers: SearchOffers },
): Promise<CreateAnswer> {
  // A repeated request would not find the rented offer again, so the stored answer is looked up before the search.
  const earlier = await desk.findAnswer(repeatable);
  if (earlier !== undefined) return earlier as CreateAnswer;
  const wish = await desk.wishOf(db, identity, body);
  let refusal: AppError | undefined;
  for (const offer of searchOffers(queryOf(body, wish))) {
    const isBid = wish.bidNanosPerHour !== undefined;
    const totalMaxNanosPerHour = isBid ? undefined : priceFound(offer, wish.launch.disk_gb);
    try {
      return await desk.rent(await desk.orderFor(wish, offer.id, { repeatable, totalMaxNanosPerHour }));
    } catch (error) {
      if (!(error instanceof AppError) || !mayAnotherOfferDo(error)) throw error;
      refusal = error;
    }
  }
  throw refusal ?? notFound("no_such_ask", "No offer matches this search now.");
}

/** True when the offer is to blame: it is gone, costs more than it did, or has too little disk. */
function mayAnotherOfferDo({ kind, code, extra }: AppError): boolean {
  if (code === "no_such_volume_offer") return false;
  return kind === "gone" || kind === "not_found" || (kind === "invalid" && extra["field"] === "disk");
}

/** The search in `q`, with the conditions that older clients send beside it. A bid is compared with prices of bids. */
function queryOf(body: LaunchBody, wish: Wish): Readonly<Record<string, unknown>> {
  const given = body.q ?? {};
  const query: Readonly<Record<string, unknown>> = isPlainObject(given) ? given : { q: given };
  refuseUnknownFields(query);
  const type = wish.bidNanosPerHour === undefined ? (query["type"] ?? "ondemand") : "bid";
  const beside = {
    ...(body.gpu_name === undefined ? {} : { gpu_name: { eq: body.gpu_name } }),
    ...(body.num_gpus === undefined ? {} : { num_gpus: { eq: body.num_gpus } }),
    ...(body.region === undefined || "geolocation" in query ? {} : { geolocation: { in: countriesOf(body.region) } }),
  };
  const limit = typeof query["limit"] === "number" ? Math.min(query["limit"], ATTEMPTS_MAX) : ATTEMPTS_MAX;
  // Bundling would show equal offers as one row, and when that is gone the next one would be unknown.
  return { rentable: { eq: true }, ...beside, ...query, type, limit, disable_bundling: true };
}

/** Reads country codes strictly: ignoring an unknown region would rent in the wrong place. */
function countriesOf(region: string): readonly string[] {
  const codes = region
    .replace(/^\[|\]$/g, "")
    .split(",")
    .map((code) => code.trim().toUpperCase());
  if (codes.every((code) => /^[A-Z]{2}$/.test(code))) return codes;
  throw invalid("region", "region must be country codes such as US,CA; q.geolocation takes them too");
}

/** The orders of a bulk request. They are made before its transaction, because taking ids needs another connection. */
export async function planBulk(
  db: Reader,
  { identity, body, repeatable }: { identity: Identity; body: BulkBody; repeatable: Repeatable | undefined },
  desk: OrderDesk,
): Promise<readonly CreateOrder[]> {
  // A repetition is answered from the stored answer, even if its template has changed or gone.
  if ((await desk.findAnswer(repeatable)) !== undefined) return [];
  const wish = await desk.wishOf(db, identity, body);
  const orders: CreateOrder[] = [];
  for (const id of body.ids) orders.push(await desk.orderFor(wish, id));
  return orders;
}

/** Rents each offer that can be had. When none can, throws 400 with the reason of the first refusal. */
export async function rentInBulk(tx: Tx, orders: readonly CreateOrder[]) {
  const outcomes = await createInstances(tx, orders);
  const results = outcomes.map((outcome, index) =>
    outcome instanceof AppError
      ? refused(outcome, orders[index]?.offerId ?? 0)
      : answered(outcome, orders[index]?.target ?? "running"),
  );
  const made = outcomes.flatMap((outcome) => (outcome instanceof AppError ? [] : [outcome.new_contract]));
  const [first] = outcomes;
  if (made.length === 0 && first instanceof AppError) {
    const { code, publicMessage, extra } = first;
    throw new AppError("invalid", code, publicMessage, { extra: { ...extra, results } });
  }
  const failed = results.flatMap((result) => (result.success ? [] : [result.ask_id]));
  return { success: true as const, created: made, failed, new_contracts: made, results };
}

function refused({ code, publicMessage }: AppError, offerId: number) {
  return { success: false as const, ask_id: offerId, error: code, msg: publicMessage };
}

/** The answer with the fields of the published contract only; a bid that waits is told in words. */
function answered({ waiting, ...answer }: CreateAnswer, target: CreateOrder["target"]) {
  return waiting === undefined ? { ...answer, state: target } : { ...answer, state: "stopped" as const, msg: waiting };
}
