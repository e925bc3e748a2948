import { createHmac, createSecretKey } from "node:crypto";
import { invalid, AppError } from "../../../../base/errors.ts";
import { asId, type InstanceId, type OfferId } from "../../../../base/ids.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { Clock } from "../../../../base/clock.ts";
import { readMaxPrice } from "../../../../base/hourly-price.ts";
import { MicroBatcher } from "../../../../base/micro-batcher.ts";
import { parseDollars, type Nanos } from "../../../../base/money.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import type { Database } from "../../../../db/connect.ts";
import { rehearse, withTransaction, type Reader, type Tx } from "../../../../db/transaction.ts";
import { findAnswers, type EarlierAnswer, type Repeatable } from "../../../../db/idempotency-store.ts";
import { openAnswer } from "../../../../db/idempotency.ts";
import { requireReachableRegistry } from "../../../supply/hosts/index.ts";
import { newKey } from "../../../people/accounts/index.ts";
import type { NewKey } from "../../../people/accounts/for-instances.ts";
import {
  readTrafficDollars,
  resolveLaunch,
  resolveTemplateByHash,
  type LaunchSettings,
} from "../../templates/index.ts";
import { requireVolumes, type VolumeInfo } from "../../../supply/volumes/for-instances.ts";
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
/** Retired offer ids kept in memory; older ones are read from the database again. */
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

/** A wanted rental, checked as far as possible without an offer. */
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

/** Makes the key that an instance gets for itself. It is the same for the same id, so it is not stored in clear. */
export function instanceKeyMaker(secret: Buffer): (id: InstanceId) => NewKey {
  const key = createSecretKey(secret);
  return (id) => newKey(() => createHmac("sha256", key).update(`instance ${id}`).digest());
}

export type DeskMeans = {
  readonly secret: Buffer;
  readonly encryption: Encryption;
  /** Called with offers that are certainly retired, before anybody is answered. */
  readonly onUsedUp?: (ids: readonly OfferId[]) => void;
  /** The bundle that searches show an offer in. */
  readonly bundleOf?: (id: OfferId) => number | undefined;
};

/** Takes orders for instances: checks each alone, then rents many in one durable write. */
export class OrderDesk {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #batcher: MicroBatcher<CreateOrder, CreateOutcome>;
  readonly #lookups: MicroBatcher<Repeatable, EarlierAnswer | undefined>;
  readonly #keyOf: (id: InstanceId) => NewKey;
  readonly #encryption: Encryption;
  /** Offers that are certainly retired. They never come back: a crowd that wants one offer costs the database once. */
  readonly #usedUp = new Set<number>();
  readonly #onUsedUp: (ids: readonly OfferId[]) => void;
  readonly #bundleOf: (id: OfferId) => number | undefined;
  #ids: InstanceId[] = [];
  #reserving: Promise<void> | undefined;

  constructor(
    database: Database,
    clock: Clock,
    { secret, encryption, onUsedUp = () => {}, bundleOf = () => undefined }: DeskMeans,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#encryption = encryption;
    this.#onUsedUp = onUsedUp;
    this.#bundleOf = bundleOf;
    this.#keyOf = instanceKeyMaker(secret);
    this.#lookups = new MicroBatcher({
      maxBatch: LOOKUPS_PER_BATCH,
      run: async (repeatables) => {
        const answers = await findAnswers(database.kysely, repeatables);
        return repeatables.map((repeatable) => answers.get(repeatable));
      },
    });
    this.#batcher = new MicroBatcher({
      maxBatch: ORDERS_PER_BATCH,
      run: (orders) =>
        this.#rentBatch(orders, (fresh) => withTransaction(database, clock, (tx) => createInstances(tx, fresh))),
    });
  }

  /** Rents the offer, or throws the refusal. An instance that was created but waits is named in the error. */
  async order({ identity, offerId, body, repeatable }: OrderRequest): Promise<CreateAnswer> {
    // Read before the stored answer: the order that retired the offer has stored its answer in the same transaction.
    const isGone = this.#usedUp.has(offerId);
    // The stored answer comes before all other lookups: a repetition is answered even if its template is gone by now.
    const earlier = repeatable && (await this.findAnswer(repeatable));
    if (earlier !== undefined) return answerOf(earlier as CreateAnswer);
    const wish = await this.wishOf(this.#database.kysely, identity, body);
    if (isGone) throw askIsUsedUp(offerId);
    return this.rent(await this.orderFor(wish, offerId, { repeatable }));
  }

  /** The cost and effects of renting the offer; throws if it cannot be rented. Nothing is created. */
  async forecast(
    { identity, offerId, body }: Omit<OrderRequest, "repeatable">,
    accruedOf: AccruedOf,
  ): Promise<Forecast> {
    const wish = await this.wishOf(this.#database.kysely, identity, body);
    if (this.#usedUp.has(offerId)) throw askIsUsedUp(offerId);
    const order = await this.orderFor(wish, offerId);
    return rehearse(this.#database, this.#clock, (tx) => forecastOrder(tx, order, accruedOf));
  }

  /** The answer to the first attempt of a repeated request; undefined when this is the first. */
  async findAnswer(repeatable: Repeatable | undefined): Promise<unknown> {
    const earlier = repeatable && (await this.#lookups.submit(repeatable));
    return repeatable === undefined || earlier === undefined ? undefined : openAnswer(repeatable, earlier);
  }

  /** Reads the body of a creation; throws on the first wrong field. */
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
        ? await resolveTemplateByHash(db, userId, hashId, this.#encryption)
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

  /** Refuses volumes that no machine can mount, for a request whose machine is not known yet. */
  async checkVolumes(tx: Tx, { userId, volumeInfo, launch }: Wish): Promise<void> {
    await requireVolumes(tx, { userId, volumeInfo, links: launch.volume_links });
  }

  /** The order for one offer: with an id and a key of its own, and its secrets encrypted. */
  async orderFor(wish: Wish, offerId: number, terms: OrderTerms = {}): Promise<CreateOrder> {
    const instanceId = await this.#takeId();
    return {
      ...wish,
      instanceId,
      offerId,
      bundleId: this.#bundleOf(asId<OfferId>(offerId)),
      launch: encryptSettings(wish.launch, instanceId, this.#encryption),
      instanceKey: this.#keyOf(instanceId),
      repeatable: terms.repeatable,
      totalMaxNanosPerHour: lesser(wish.totalMaxNanosPerHour, terms.totalMaxNanosPerHour),
    };
  }

  /** Rents together with other orders of the same moment, or throws the refusal. */
  async rent(order: CreateOrder): Promise<CreateAnswer> {
    const outcome = await this.#batcher.submit(order);
    if (outcome instanceof AppError) throw outcome;
    return answerOf(outcome);
  }

  async idle(): Promise<void> {
    await this.#batcher.idle();
  }

  /** One transaction for the orders of a batch that may have something to rent. */
  async #rentBatch(
    orders: readonly CreateOrder[],
    create: (fresh: readonly CreateOrder[]) => Promise<readonly CreateOutcome[]>,
  ): Promise<readonly CreateOutcome[]> {
    const fresh = orders.filter(({ offerId, repeatable }) => repeatable !== undefined || !this.#usedUp.has(offerId));
    const outcomes = fresh.length === 0 ? [] : await create(fresh);
    const answers = new Map(fresh.map((order, index) => [order, outcomes[index]] as const));
    if (this.#usedUp.size > USED_UP_MAX) this.#usedUp.clear();
    const retired: OfferId[] = [];
    fresh.forEach(({ offerId }, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined || !isRetired(outcome)) return;
      retired.push(asId<OfferId>(offerId));
      // A replaced offer is looked up each time, because its refusal names the present price.
      if (isUsedUp(outcome)) this.#usedUp.add(offerId);
    });
    this.#onUsedUp(retired);
    return orders.map((order) => answers.get(order) ?? askIsUsedUp(order.offerId));
  }

  /** Reserves this many ids, because a transaction that creates instances must not wait for a second connection. */
  async prepare(count: number): Promise<void> {
    while (this.#ids.length < count) await this.#reserveIds();
  }

  async #takeId(): Promise<InstanceId> {
    for (;;) {
      const id = this.#ids.shift();
      if (id !== undefined) return id;
      await this.#reserveIds();
    }
  }

  async #reserveIds(): Promise<void> {
    this.#reserving ??= reserveIds(this.#database, IDS_PER_RESERVATION)
      .then((ids) => void this.#ids.push(...ids))
      .finally(() => {
        this.#reserving = undefined;
      });
    await this.#reserving;
  }
}

/** Throws `bid_too_low` for an instance that was created but waits; the error names the instance, as clients expect. */
function answerOf(answer: CreateAnswer): CreateAnswer {
  if (answer.waiting === undefined) return answer;
  throw invalid("price", `${answer.waiting} The instance was created and waits for its turn.`, "bid_too_low", {
    extra: { new_contract: answer.new_contract, ask_id: answer.ask_id },
  });
}

function lesser(one: Nanos | undefined, other: Nanos | undefined): Nanos | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

/** The traffic limit of the request, else that of its template. */
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
