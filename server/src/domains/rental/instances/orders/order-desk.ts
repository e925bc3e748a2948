import { createHmac, createSecretKey } from "node:crypto";
import { invalid, AppError } from "../../../../base/errors.ts";
import { asId, type InstanceId, type OfferId } from "../../../../base/ids.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { Clock } from "../../../../base/clock.ts";
import { readMaxPrice } from "../../../../base/hourly-price.ts";
import { MicroBatcher } from "../../../../base/micro-batcher.ts";
import { parseDollars, type Nanos } from "../../../../base/money.ts";
import type { Sealer } from "../../../../base/seal.ts";
import type { Database } from "../../../../db/connect.ts";
import { rehearse, withTransaction, type Reader, type Tx } from "../../../../db/transaction.ts";
import { findAnswers, type EarlierAnswer, type Repeatable } from "../../../../db/idempotency-store.ts";
import { openAnswer } from "../../../../db/idempotency.ts";
import { requireReachableRegistry } from "../../../supply/hosts/index.ts";
import { newKey, type NewKey } from "../../../people/accounts/index.ts";
import {
  readTrafficDollars,
  resolveLaunch,
  resolveTemplateByHash,
  type LaunchSettings,
} from "../../templates/index.ts";
import { requireVolumes, type VolumeInfo } from "../../../supply/volumes/index.ts";
import type { CreateAnswer } from "./create-answer.ts";
import type { CreateOrder } from "./create-order.ts";
import type { CreateOutcome } from "./candidate.ts";
import { createInstances } from "./create.ts";
import { askIsUsedUp, isRetired, isUsedUp } from "./create-refusals.ts";
import { forecastOrder, type AccruedOf, type Forecast } from "./forecast-service.ts";
import { encryptSettings } from "../settings/encrypted-settings.ts";
import { reserveIds } from "../store.ts";
import { readTrafficLimit } from "../traffic/traffic-limit.ts";

const ORDERS_PER_BATCH = 256;
const LOOKUPS_PER_BATCH = 256;
const IDS_PER_RESERVATION = 256;
/** How many retired offers are remembered; beyond that they are learnt anew. */
const USED_UP_MAX = 100_000;
const BID_DOLLARS_MIN = 0.001;
const BID_DOLLARS_MAX = 128;

export type OrderBody = Readonly<Record<string, unknown>> & { readonly volume_info?: VolumeInfo | undefined };

export type OrderRequest = {
  readonly identity: Identity;
  readonly offerId: number;
  readonly body: OrderBody;
  readonly repeatable: Repeatable | undefined;
};

/** What somebody wants to rent, checked as far as it can be without an offer. */
export type Wish = Pick<
  CreateOrder,
  | "userId"
  | "capScopes"
  | "template"
  | "volumeInfo"
  | "bidNanosPerHour"
  | "trafficLimitNanos"
  | "target"
  | "isRefusedUnlessRunning"
  | "totalMaxNanosPerHour"
> & { readonly launch: LaunchSettings };

export type OrderTerms = Partial<Pick<CreateOrder, "repeatable" | "totalMaxNanosPerHour">>;

/** Makes the key that an instance is given for itself; the same for the same id, so that it is never stored in clear. */
export function instanceKeyMaker(secret: Buffer): (id: InstanceId) => NewKey {
  const key = createSecretKey(secret);
  return (id) => newKey(() => createHmac("sha256", key).update(`instance ${id}`).digest());
}

export type DeskMeans = {
  readonly secret: Buffer;
  readonly sealer: Sealer;
  /** Told, before anybody is answered, which offers are retired for certain. */
  readonly onUsedUp?: (ids: readonly OfferId[]) => void;
};

/** Takes orders for instances: checks each alone, then rents many in one durable write. */
export class OrderDesk {
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly batcher: MicroBatcher<CreateOrder, CreateOutcome>;
  private readonly lookups: MicroBatcher<Repeatable, EarlierAnswer | undefined>;
  private readonly keyOf: (id: InstanceId) => NewKey;
  private readonly sealer: Sealer;
  /** Offers that are retired for certain. They never come back: a crowd that wants one offer costs the database once. */
  private readonly usedUp = new Set<number>();
  private readonly onUsedUp: (ids: readonly OfferId[]) => void;
  private ids: InstanceId[] = [];
  private reserving: Promise<void> | undefined;

  constructor(database: Database, clock: Clock, { secret, sealer, onUsedUp = () => {} }: DeskMeans) {
    this.database = database;
    this.clock = clock;
    this.sealer = sealer;
    this.onUsedUp = onUsedUp;
    this.keyOf = instanceKeyMaker(secret);
    this.lookups = new MicroBatcher({
      maxBatch: LOOKUPS_PER_BATCH,
      run: async (repeatables) => {
        const answers = await findAnswers(database.kysely, repeatables);
        return repeatables.map((repeatable) => answers.get(repeatable));
      },
    });
    this.batcher = new MicroBatcher({
      maxBatch: ORDERS_PER_BATCH,
      run: (orders) =>
        this.rentBatch(orders, (fresh) => withTransaction(database, clock, (tx) => createInstances(tx, fresh))),
    });
  }

  /** Rents the offer, or throws why not. An instance that had to be made waiting is named in the error. */
  async order({ identity, offerId, body, repeatable }: OrderRequest): Promise<CreateAnswer> {
    // Seen before the look for an answer: whoever retired it has stored the answer to its repetition with that.
    const isGone = this.usedUp.has(offerId);
    // Before anything is looked up: what the first attempt named may be gone since, and it is answered all the same.
    const earlier = repeatable && (await this.findAnswer(repeatable));
    if (earlier !== undefined) return answerOf(earlier as CreateAnswer);
    const wish = await this.wishOf(this.database.kysely, identity, body);
    if (isGone) throw askIsUsedUp(offerId);
    return this.rent(await this.orderFor(wish, offerId, { repeatable }));
  }

  /** What renting the offer would cost and come to, or throws why it cannot be rented. Nothing is made. */
  async forecast(
    { identity, offerId, body }: Omit<OrderRequest, "repeatable">,
    accruedOf: AccruedOf,
  ): Promise<Forecast> {
    const wish = await this.wishOf(this.database.kysely, identity, body);
    if (this.usedUp.has(offerId)) throw askIsUsedUp(offerId);
    const order = await this.orderFor(wish, offerId);
    return rehearse(this.database, this.clock, (tx) => forecastOrder(tx, order, accruedOf));
  }

  /** What the first attempt of a repeated request was answered; undefined when this is the first. */
  async findAnswer(repeatable: Repeatable | undefined): Promise<unknown> {
    const earlier = repeatable && (await this.lookups.submit(repeatable));
    return repeatable === undefined || earlier === undefined ? undefined : openAnswer(repeatable, earlier);
  }

  /** Reads the body of a creation, or throws what is wrong with it. */
  async wishOf(
    db: Reader,
    { userId, apiKeyId }: Pick<Identity, "userId" | "apiKeyId">,
    body: OrderBody,
  ): Promise<Wish> {
    if (body["dry_run"] !== undefined && body["dry_run"] !== false) {
      throw invalid("dry_run", "dry_run asks about one offer: PUT /api/v0/asks/{id}/ takes it");
    }
    const bidNanosPerHour = readBid(body["price"]);
    const hashId = body["template_hash_id"];
    const template =
      typeof hashId === "string" && hashId !== ""
        ? await resolveTemplateByHash(db, userId, hashId, this.sealer)
        : undefined;
    const isBid = bidNanosPerHour !== undefined;
    const launch = resolveLaunch(template, body);
    await requireReachableRegistry(db, { image: launch.image, field: "image" });
    return {
      userId,
      capScopes: [`key:${apiKeyId}`],
      launch,
      template: template && { id: template.id, hashId: template.hashId },
      volumeInfo: body.volume_info,
      bidNanosPerHour,
      trafficLimitNanos: limitIn(body, template?.content.traffic_limit),
      target: body["target_state"] === "stopped" ? "stopped" : "running",
      totalMaxNanosPerHour: readMaxPrice("max_dph", body["max_dph"]),
      isRefusedUnlessRunning: body["cancel_unavail"] === true || (body["cancel_unavail"] === undefined && !isBid),
    };
  }

  /** Refuses volumes that no machine can mount, for a wish that waits until it knows its machine. */
  async checkVolumes(tx: Tx, { userId, volumeInfo, launch }: Wish): Promise<void> {
    await requireVolumes(tx, { userId, volumeInfo, links: launch.volume_links });
  }

  /** The wish, aimed at one offer: with an id and a key of its own, and its secrets sealed. */
  async orderFor(wish: Wish, offerId: number, terms: OrderTerms = {}): Promise<CreateOrder> {
    const instanceId = await this.takeId();
    return {
      ...wish,
      instanceId,
      offerId,
      launch: encryptSettings(wish.launch, instanceId, this.sealer),
      instanceKey: this.keyOf(instanceId),
      repeatable: terms.repeatable,
      totalMaxNanosPerHour: lesser(wish.totalMaxNanosPerHour, terms.totalMaxNanosPerHour),
    };
  }

  /** Rents together with whatever else is ordered at the same time, or throws why not. */
  async rent(order: CreateOrder): Promise<CreateAnswer> {
    const outcome = await this.batcher.submit(order);
    if (outcome instanceof AppError) throw outcome;
    return answerOf(outcome);
  }

  async idle(): Promise<void> {
    await this.batcher.idle();
  }

  /** One transaction for those of a batch that may have something to rent. */
  private async rentBatch(
    orders: readonly CreateOrder[],
    create: (fresh: readonly CreateOrder[]) => Promise<readonly CreateOutcome[]>,
  ): Promise<readonly CreateOutcome[]> {
    const fresh = orders.filter(({ offerId, repeatable }) => repeatable !== undefined || !this.usedUp.has(offerId));
    const outcomes = fresh.length === 0 ? [] : await create(fresh);
    const answers = new Map(fresh.map((order, index) => [order, outcomes[index]] as const));
    if (this.usedUp.size > USED_UP_MAX) this.usedUp.clear();
    const retired: OfferId[] = [];
    fresh.forEach(({ offerId }, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined || !isRetired(outcome)) return;
      retired.push(asId<OfferId>(offerId));
      // A replaced offer is looked up each time: its refusal names the price of now.
      if (isUsedUp(outcome)) this.usedUp.add(offerId);
    });
    this.onUsedUp(retired);
    return orders.map((order) => answers.get(order) ?? askIsUsedUp(order.offerId));
  }

  /** Has ids at hand for so many orders: whoever makes them inside a transaction must not wait for a second connection. */
  async prepare(count: number): Promise<void> {
    while (this.ids.length < count) await this.reserveIds();
  }

  private async takeId(): Promise<InstanceId> {
    for (;;) {
      const id = this.ids.shift();
      if (id !== undefined) return id;
      await this.reserveIds();
    }
  }

  private async reserveIds(): Promise<void> {
    this.reserving ??= reserveIds(this.database, IDS_PER_RESERVATION)
      .then((ids) => void this.ids.push(...ids))
      .finally(() => {
        this.reserving = undefined;
      });
    await this.reserving;
  }
}

/** Throws `bid_too_low` for an instance that was made but waits; the error names the instance, as clients expect. */
function answerOf(answer: CreateAnswer): CreateAnswer {
  if (answer.waiting === undefined) return answer;
  throw invalid("price", `${answer.waiting} The instance was made and waits for its turn.`, "bid_too_low", {
    extra: { new_contract: answer.new_contract, ask_id: answer.ask_id },
  });
}

function lesser(one: Nanos | undefined, other: Nanos | undefined): Nanos | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

/** What the request says, else its template. */
function limitIn(body: OrderBody, ofTemplate: number | undefined): Nanos | undefined {
  const asked = readTrafficDollars(body) ?? ofTemplate;
  return asked === undefined ? undefined : readTrafficLimit(asked);
}

function readBid(price: unknown): Nanos | undefined {
  if (price === undefined) return undefined;
  const isInRange = typeof price === "number" && price >= BID_DOLLARS_MIN && price <= BID_DOLLARS_MAX;
  const nanos = isInRange ? parseDollars(price) : undefined;
  if (nanos === undefined) {
    const message = `price must be a number from ${BID_DOLLARS_MIN} to ${BID_DOLLARS_MAX} dollars an hour`;
    throw invalid("price", message, "invalid_price");
  }
  return nanos;
}
