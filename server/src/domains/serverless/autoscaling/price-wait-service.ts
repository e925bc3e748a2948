import { formatDollars, type Nanos } from "../../../base/money.ts";
import type { Tx } from "../../../db/transaction.ts";
import { postNotifications } from "../../notifications/index.ts";
import type { Decision, OfferView } from "./rules/types.ts";
import type { EndpointMemory } from "../routing/endpoint-memory.ts";
import { recordEvents } from "./event-store.ts";
import type { EndpointGroup } from "../endpoints/store.ts";
import { setMaximum, setPriceWait } from "../worker-groups/store.ts";
import type { WorkerGroup } from "../worker-groups/worker-group.ts";
import { maximumByMarket, maximumSentence } from "../workers/worker-price.ts";
import type { FoundOffer } from "./wish-service.ts";

/** A shortage of a few minutes is not worth a notification; one of this length needs the owner. */
const NOTICE_AFTER_MS = 10 * 60_000;

/**
 * Gives groups that have no maximum price yet the one that follows from the market, as soon as the market has a price for
 * what they ask. Returns the groups as they are then.
 */
export async function settleMaxima(
  tx: Tx,
  { groups, memory }: { readonly groups: readonly WorkerGroup[]; readonly memory: EndpointMemory },
  search: (query: Readonly<Record<string, unknown>>) => readonly FoundOffer[],
): Promise<readonly WorkerGroup[]> {
  const settled: WorkerGroup[] = [];
  for (const group of groups) {
    const wish = memory.wishes.get(group.id);
    const isKnown = group.maxNanosPerHour !== undefined || wish === undefined;
    const maxNanosPerHour = isKnown ? undefined : maximumByMarket(wish, search);
    if (maxNanosPerHour === undefined) {
      settled.push(group);
      continue;
    }
    await setMaximum(tx, group.id, maxNanosPerHour);
    const sentence = maximumSentence(group.id, maxNanosPerHour);
    const { id: workerGroupId, endpointGroupId } = group;
    await recordEvents(tx, [{ endpointGroupId, workerGroupId, kind: "change", level: 0, sentence }]);
    settled.push({ ...group, maxNanosPerHour });
  }
  return settled;
}

/**
 * Stores which groups wait for a lower price, and since when, and notifies their owner once of each wait that lasts.
 * A group waits when workers are needed and every offer that matches its search costs more than its maximum.
 */
export async function notePriceWaits(
  tx: Tx,
  {
    endpoint,
    groups,
    offers,
    decision,
    memory,
  }: {
    readonly endpoint: EndpointGroup;
    readonly groups: readonly WorkerGroup[];
    readonly offers: readonly OfferView[];
    readonly decision: Pick<Decision, "reason">;
    readonly memory: EndpointMemory;
  },
): Promise<void> {
  for (const group of groups) {
    const cheapest = decision.reason === "too_dear" ? cheapestTooDear(group, offers) : undefined;
    const since = group.waitsForPriceSince;
    if (cheapest === undefined) {
      if (since !== undefined) await setPriceWait(tx, group.id, undefined);
    } else if (since === undefined) await setPriceWait(tx, group.id, tx.now);
    else await tellOnce(tx, { endpoint, group, since, cheapest, memory });
  }
}

/** The lowest price of a group whose offers all cost more than its maximum; undefined otherwise. */
function cheapestTooDear({ id, maxNanosPerHour }: WorkerGroup, offers: readonly OfferView[]): Nanos | undefined {
  const prices = offers.flatMap(({ groupId, priceNanosPerHour: price }) => (groupId === id ? [price] : []));
  const [first, ...rest] = prices;
  if (first === undefined || maxNanosPerHour === undefined) return undefined;
  const cheapest = rest.reduce((least, price) => (price < least ? price : least), first);
  return cheapest > maxNanosPerHour ? cheapest : undefined;
}

async function tellOnce(
  tx: Tx,
  {
    endpoint,
    group,
    since,
    cheapest,
    memory,
  }: {
    readonly endpoint: EndpointGroup;
    readonly group: WorkerGroup;
    readonly since: Date;
    readonly cheapest: Nanos;
    readonly memory: EndpointMemory;
  },
): Promise<void> {
  const key = `workers_too_dear:${group.id}:${since.getTime()}`;
  if (tx.now.getTime() - since.getTime() < NOTICE_AFTER_MS || memory.toldWaits.has(key)) return;
  const most = formatDollars(group.maxNanosPerHour ?? 0n);
  await postNotifications(tx, [
    {
      userId: endpoint.userId,
      kind: "client:workers_too_dear",
      subject: `Worker group ${group.id} waits: every matching offer costs more than its maximum`,
      message: `Worker group ${group.id} of endpoint ${endpoint.name} needs workers, but the cheapest matching offer costs $${formatDollars(cheapest)} an hour and max_dph of the group is $${most}. Raise max_dph or change the search of the group to rent again.`,
      key,
    },
  ]);
  tx.afterCommit(() => memory.toldWaits.add(key));
}
