import { createHmac, createSecretKey } from "node:crypto";
import { invalid, AppError } from "../../base/errors.ts";
import type { InstanceId } from "../../base/ids.ts";
import type { Identity } from "../../base/identity.ts";
import type { Clock } from "../../base/clock.ts";
import { MicroBatcher } from "../../base/micro-batcher.ts";
import { parseDollars, type Nanos } from "../../base/money.ts";
import type { Sealer } from "../../base/seal.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction } from "../../db/transaction.ts";
import { findAnswers, type EarlierAnswer } from "../../http/idempotency-store.ts";
import { openAnswer, type Repeatable } from "../../http/idempotency.ts";
import { newKey, type NewKey } from "../accounts/index.ts";
import { resolveLaunch, resolveTemplateByHash } from "../templates/index.ts";
import type { VolumeInfo } from "../volumes/index.ts";
import { createInstances, type CreateAnswer, type CreateOrder, type CreateOutcome } from "./create.ts";
import { sealLogin } from "./registry-login.ts";
import { reserveIds } from "./store.ts";

const ORDERS_PER_BATCH = 128;
const LOOKUPS_PER_BATCH = 256;
const IDS_PER_RESERVATION = 256;
const BID_DOLLARS_MIN = 0.001;
const BID_DOLLARS_MAX = 128;

export type OrderRequest = {
  readonly identity: Identity;
  readonly offerId: number;
  readonly body: Readonly<Record<string, unknown>> & { readonly volume_info?: VolumeInfo | undefined };
  readonly repeatable: Repeatable | undefined;
};

/** Makes the key that an instance is given for itself; the same for the same id, so that it is never stored in clear. */
export function instanceKeyMaker(secret: Buffer): (id: InstanceId) => NewKey {
  const key = createSecretKey(secret);
  return (id) => newKey(() => createHmac("sha256", key).update(`instance ${id}`).digest());
}

/** Takes orders for instances: checks each alone, then rents many in one durable write. */
export class OrderDesk {
  private readonly database: Database;
  private readonly batcher: MicroBatcher<CreateOrder, CreateOutcome>;
  private readonly lookups: MicroBatcher<Repeatable, EarlierAnswer | undefined>;
  private readonly keyOf: (id: InstanceId) => NewKey;
  private readonly sealer: Sealer;
  private ids: InstanceId[] = [];
  private reserving: Promise<void> | undefined;

  constructor(database: Database, clock: Clock, { secret, sealer }: { secret: Buffer; sealer: Sealer }) {
    this.database = database;
    this.sealer = sealer;
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
      run: (orders) => withTransaction(database, clock, (tx) => createInstances(tx, orders)),
    });
  }

  /** Rents the offer, or throws why not. An instance that had to be made waiting is named in the error. */
  async order(request: OrderRequest): Promise<CreateAnswer> {
    const { identity, offerId, body, repeatable } = request;
    // Before anything is looked up: what the first attempt named may be gone since, and it is answered all the same.
    const earlier = repeatable && (await this.lookups.submit(repeatable));
    if (repeatable !== undefined && earlier !== undefined)
      return answerOf(openAnswer(repeatable, earlier) as CreateAnswer);
    const bidNanosPerHour = readBid(body["price"]);
    const template = await this.findTemplate(identity, body["template_hash_id"]);
    const launch = resolveLaunch(template, body);
    const instanceId = await this.takeId();
    const isBid = bidNanosPerHour !== undefined;
    const target = body["target_state"] === "stopped" ? "stopped" : "running";
    const outcome = await this.batcher.submit({
      instanceId,
      userId: identity.userId,
      offerId,
      launch: sealLogin(launch, instanceId, this.sealer),
      template: template && { id: template.id, hashId: template.hashId },
      volumeInfo: body.volume_info,
      bidNanosPerHour,
      target,
      isRefusedUnlessRunning: body["cancel_unavail"] === true || (body["cancel_unavail"] === undefined && !isBid),
      instanceKey: this.keyOf(instanceId),
      repeatable,
    });
    if (outcome instanceof AppError) throw outcome;
    return answerOf(outcome);
  }

  async idle(): Promise<void> {
    await this.batcher.idle();
  }

  private async findTemplate(identity: Identity, hashId: unknown) {
    if (typeof hashId !== "string" || hashId === "") return undefined;
    return resolveTemplateByHash(this.database.kysely, identity.userId, hashId, this.sealer);
  }

  private async takeId(): Promise<InstanceId> {
    for (;;) {
      const id = this.ids.shift();
      if (id !== undefined) return id;
      this.reserving ??= reserveIds(this.database, IDS_PER_RESERVATION)
        .then((ids) => void this.ids.push(...ids))
        .finally(() => {
          this.reserving = undefined;
        });
      await this.reserving;
    }
  }
}

/** An instance that had to be made waiting is answered by an error that names it (semantics.md §9.3 rule 6). */
function answerOf(answer: CreateAnswer): CreateAnswer {
  if (answer.waiting === undefined) return answer;
  throw invalid("price", `${answer.waiting} The instance was made and waits for its turn.`, "bid_too_low", {
    extra: { new_contract: answer.new_contract, ask_id: answer.ask_id },
  });
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
