import { invalid, notFound } from "../../../../base/errors.ts";
import { asId, type OfferId } from "../../../../base/ids.ts";
import { parseDollars } from "../../../../base/money.ts";
import type { HttpScope } from "../../../../http/server.ts";
import { findOffers } from "../store.ts";
import { floorStretches, type FloorChange } from "./rules/replay.ts";
import { BidHistory, BidHistoryQuery, ModelBidHistory, ModelBidHistoryQuery, OfferParams } from "./schema.ts";
import { listFloors, listWatches } from "./store.ts";
import { viewBidHistory } from "./views.ts";

const HOUR_MS = 3_600_000;
const HOURS_DEFAULT = 168;

/** Questions about what a bid would have done in the past days. */
export function bidHistoryRoutes({ app, database: { kysely }, clock }: HttpScope): void {
  const answer = async (
    { hours = HOURS_DEFAULT, price }: { readonly hours?: number; readonly price?: number },
    list: (range: { readonly from: Date; readonly until: Date }) => Promise<readonly FloorChange[]>,
  ) => {
    const priceNanos = price === undefined ? undefined : parseDollars(price);
    if (price !== undefined && priceNanos === undefined) throw invalid("price", "price must be an amount in dollars");
    const until = clock.now();
    const from = new Date(until.getTime() - hours * HOUR_MS);
    const changes = await list({ from, until });
    const range = { fromMs: from.getTime(), untilMs: until.getTime() };
    const watches = await listWatches(kysely, { from, until });
    return viewBidHistory(floorStretches(changes, watches, range), range, priceNanos);
  };

  app.get(
    "/api/v0/asks/:id/bid-history/",
    {
      config: { access: { operation: "api.offer.bid_history", permission: "optional" } },
      schema: {
        summary: "What a bid for an offer would have done in the past days",
        params: OfferParams,
        querystring: BidHistoryQuery,
        response: { 200: BidHistory },
      },
    },
    async ({ params, query }) => {
      const id = asId<OfferId>(params.id);
      const offer = (await findOffers(kysely, [id])).get(id);
      if (offer === undefined) {
        throw notFound("no_such_ask", `Offer ${id} does not exist. Search again.`, { extra: { field: "id" } });
      }
      const { machineId, deviceCount } = offer;
      const history = await answer(query, (range) => listFloors(kysely, { of: machineId, deviceCount, ...range }));
      return { success: true as const, ask_id: id, num_gpus: deviceCount, ...history };
    },
  );
  app.get(
    "/api/v0/market/bid-history/",
    {
      config: { access: { operation: "api.market.bid_history", permission: "public" } },
      schema: {
        tags: ["Market metrics"],
        summary: "What a bid for any machine of a model would have done in the past days",
        querystring: ModelBidHistoryQuery,
        response: { 200: ModelBidHistory },
      },
    },
    async ({ query }) => {
      const { gpu_name: name, num_gpus: deviceCount = 1 } = query;
      const gpuName = name.replaceAll("_", " ").trim();
      const history = await answer(query, (range) => listFloors(kysely, { of: gpuName, deviceCount, ...range }));
      return { success: true as const, gpu_name: gpuName, num_gpus: deviceCount, ...history };
    },
  );
}
