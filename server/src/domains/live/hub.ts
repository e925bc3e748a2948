import { AppError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Identity } from "../../base/identity.ts";
import type { ApiKeyId, MachineId, OfferId, UserId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Database } from "../../db/connect.ts";
import type { Reader } from "../../db/transaction.ts";
import { Balances, type BookedBalance } from "./balances.ts";
import { manyOffersFrame, OfferChanges } from "./offer-changes.ts";
import { changeFrame, heartbeatFrame, readyFrame, resetFrame, retryFrame, type Change } from "./rules/frames.ts";
import type { Kind } from "./rules/kinds.ts";
import { hasSameRights } from "./rules/same-rights.ts";
import { listChangesAfter, listChangesOf, numberChanges, readChangeClock } from "./store.ts";
import { LiveStream, type Follower } from "./stream.ts";
import { StreamCounts } from "./stream-counts.ts";

/** The time between two looks at the log, and so the most that an event is late when the server is not busy. */
const LOOK_MS = 250;
const OFFERS_MS = 1_000;
const BALANCES_MS = 3_000;
const CALLERS_MS = 3_000;
const HEARTBEAT_MS = 15_000;
const PAGE_ROWS = 2_000;
/** Missed changes of one account that are still told one by one. */
const MISSED_MAX = 1_000;
/** After a pause this long between two looks, rows that were not read yet may have been deleted. */
const LATE_MS = 60_000;
const RETRY_MS_MIN = 1_000;
/** Clients of a server that ends come back spread over this time. */
const RETRY_SPREAD_MS = 3_000;

export type HubPorts = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: (byteCount: number) => Buffer;
  /** The identities that keys have now; those of keys that are gone, and of sessions that are over, are left out. */
  readonly identitiesOf: (
    db: Reader,
    keyIds: readonly ApiKeyId[],
    now: Date,
  ) => Promise<ReadonlyMap<ApiKeyId, Identity>>;
  readonly balancesOf: (db: Reader, userIds: readonly UserId[]) => Promise<ReadonlyMap<UserId, BookedBalance>>;
  readonly offersOf: (machineId: MachineId) => readonly OfferId[];
};

type Wish = {
  readonly kinds: ReadonlySet<Kind>;
  /** The place that the client has reached; undefined for one that begins. */
  readonly after: bigint | undefined;
  readonly follows: boolean;
};

/** Tells all followers at this server of changes, from one look at the log for all of them. */
export class LiveHub {
  readonly #ports: HubPorts;
  readonly #streams = new Map<UserId, Set<LiveStream>>();
  readonly #counts = new StreamCounts();
  readonly #offers: OfferChanges;
  readonly #balances: Balances;
  readonly #stops: (() => void)[] = [];
  /** Everything up to here has been told; only of use while somebody follows. */
  #place = 0n;
  #lookedAtMs = 0;
  #look: Promise<void> | undefined;
  #checking: Promise<void> | undefined;
  #beginning: Promise<void> | undefined;
  #isClosed = false;

  constructor(ports: HubPorts) {
    this.#ports = ports;
    this.#offers = new OfferChanges(ports.offersOf);
    this.#balances = new Balances(ports);
  }

  get openCount(): number {
    return this.#counts.total;
  }

  start(): void {
    const { clock } = this.#ports;
    const whileFollowed = (ms: number, run: () => void) => {
      const stop = clock.every(ms, () => {
        if (this.openCount > 0) run();
      });
      this.#stops.push(stop);
    };
    whileFollowed(LOOK_MS, () => this.#lookSoon());
    whileFollowed(OFFERS_MS, () => this.#tellOffers());
    whileFollowed(BALANCES_MS, () => void this.#balances.tell(this.#all()));
    whileFollowed(CALLERS_MS, () => this.#checkSoon());
    whileFollowed(HEARTBEAT_MS, () => this.#showLife());
  }

  /** Ends all streams, and opens none any more. Resolves when the database is not asked any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stops.splice(0)) stop();
    for (const stream of this.#all()) stream.end(retryFrame(this.#retryMs()));
    await Promise.all([this.#look, this.#checking, this.#balances.idle()]);
  }

  /** Machines whose offers changed, as searches at this server see them. */
  noteOffers(machineIds: readonly MachineId[]): void {
    if (this.openCount > 0) this.#offers.note(machineIds);
  }

  /**
   * Opens a stream of changes behind `after`, or from now on. One that does not follow ends after those. Throws `busy` while the server closes, and `rate_limited`
   * when the caller has too many streams.
   */
  async open(follower: Follower, { kinds, after, follows }: Wish): Promise<LiveStream> {
    const stream = new LiveStream(follower, kinds);
    this.#requireOpen();
    this.#counts.take(follower);
    stream.output.once("close", () => this.#remove(stream));
    try {
      if (this.#streams.size === 0) await this.#begin();
      this.#requireOpen();
    } catch (error) {
      stream.output.destroy();
      throw error;
    }
    const { userId } = follower.identity;
    this.#streams.set(userId, (this.#streams.get(userId) ?? new Set()).add(stream));
    void this.#catchUp(stream, after).then(() => {
      if (!follows) stream.finish();
    });
    return stream;
  }

  /**
   * Puts the place at the end of the log, since looks stand still while nobody follows. Changes of that time have no
   * number yet; without one now, they would be told as new.
   */
  #begin(): Promise<void> {
    const { database, clock } = this.#ports;
    const begin = async () => {
      await numberChanges(database.kysely);
      const { last } = await readChangeClock(database.kysely);
      if (this.#streams.size > 0) return;
      this.#place = last;
      this.#lookedAtMs = clock.monotonicMs();
    };
    // Streams that are opened at once share one beginning: the numbers of another one's would not be visible yet.
    this.#beginning ??= begin().finally(() => {
      this.#beginning = undefined;
    });
    return this.#beginning;
  }

  async #catchUp(stream: LiveStream, after: bigint | undefined): Promise<void> {
    const place = this.#place;
    try {
      const missed = after === undefined ? "" : await this.#missedBy(stream, after, place);
      const offers = after !== undefined && stream.wants("offer") ? manyOffersFrame() : "";
      stream.begin(`${retryFrame(this.#retryMs())}${missed}${offers}${readyFrame(place, after !== undefined)}`);
    } catch (error) {
      this.#ports.log.warn({ err: error }, "changes that a follower missed could not be read; its stream ends");
      stream.output.destroy();
    }
  }

  /** The frames of changes that the follower missed, or one that tells it to read everything again. */
  async #missedBy(stream: LiveStream, after: bigint, until: bigint): Promise<string> {
    if (after > until) return resetFrame(until, "This place is not in the log: the database is another one.");
    const { kysely } = this.#ports.database;
    const { userId } = stream.follower.identity;
    const missed = await listChangesOf(kysely, userId, { after, until, limit: MISSED_MAX + 1 });
    // Read afterwards: what was deleted before or meanwhile has raised it.
    const { floor } = await readChangeClock(kysely);
    if (after < floor) return resetFrame(until, "Changes are kept for an hour, and this place is older.");
    if (missed.length > MISSED_MAX) return resetFrame(until, "Too many changes were missed to tell each of them.");
    return framesFor(stream, missed);
  }

  #lookSoon(): void {
    this.#look ??= this.#readOn()
      .catch((error: unknown) => this.#ports.log.warn({ err: error }, "changes could not be read; events are late"))
      .finally(() => {
        this.#look = undefined;
      });
  }

  async #readOn(): Promise<void> {
    const { database, clock } = this.#ports;
    await numberChanges(database.kysely);
    for (;;) {
      const place = this.#place;
      const changes = await listChangesAfter(database.kysely, place, PAGE_ROWS);
      const isLate = clock.monotonicMs() - this.#lookedAtMs > LATE_MS;
      const { floor, last } = isLate ? await readChangeClock(database.kysely) : { floor: place, last: place };
      // The last follower left meanwhile and another one came, who began further on.
      if (this.#place !== place) return;
      this.#lookedAtMs = clock.monotonicMs();
      if (floor > place) return this.#resetAll(last);
      this.#tell(changes);
      if (changes.length < PAGE_ROWS) return;
    }
  }

  #tell(changes: readonly Change[]): void {
    for (const [userId, own] of Map.groupBy(changes, (change) => change.userId)) {
      for (const stream of this.#streams.get(userId) ?? []) stream.send(framesFor(stream, own));
    }
    this.#place = changes.at(-1)?.number ?? this.#place;
  }

  #resetAll(place: bigint): void {
    const frame = resetFrame(place, "The server could not read changes for too long.");
    for (const stream of this.#all()) stream.send(frame);
    this.#place = place;
  }

  #tellOffers(): void {
    const frames = this.#offers.take();
    if (frames === "") return;
    for (const stream of this.#all()) if (stream.wants("offer")) stream.send(frames);
  }

  #showLife(): void {
    const frame = heartbeatFrame(this.#place);
    for (const stream of this.#all()) if (!stream.isCatchingUp) stream.send(frame);
  }

  #checkSoon(): void {
    this.#checking ??= this.#checkCallers()
      .catch((error: unknown) => this.#ports.log.warn({ err: error }, "keys of followers could not be checked"))
      .finally(() => {
        this.#checking = undefined;
      });
  }

  /** Ends streams whose key is gone or has other rights now; their clients come again with what they have then. */
  async #checkCallers(): Promise<void> {
    const { database, clock, identitiesOf } = this.#ports;
    const streams = this.#all();
    const keyIds = new Set(streams.map(({ follower }) => follower.identity.apiKeyId));
    const identities = await identitiesOf(database.kysely, [...keyIds], clock.now());
    for (const stream of streams) {
      const { identity } = stream.follower;
      const now = identities.get(identity.apiKeyId);
      if (now === undefined || !hasSameRights(identity, now)) stream.end(retryFrame(RETRY_MS_MIN));
    }
  }

  #remove(stream: LiveStream): void {
    const { userId } = stream.follower.identity;
    this.#counts.release(stream.follower);
    const own = this.#streams.get(userId);
    if (own?.delete(stream) !== true || own.size > 0) return;
    this.#streams.delete(userId);
    this.#balances.forget(userId);
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new AppError("unavailable", "busy", "The server is closing. Connect again in a second.");
  }

  #retryMs(): number {
    return RETRY_MS_MIN + (this.#ports.random(2).readUInt16BE() % RETRY_SPREAD_MS);
  }

  #all(): readonly LiveStream[] {
    return [...this.#streams.values()].flatMap((streams) => [...streams]);
  }
}

function framesFor(stream: LiveStream, changes: readonly Change[]): string {
  return changes
    .filter(({ kind, objectId }) => stream.sees(kind, objectId))
    .map(changeFrame)
    .join("");
}
