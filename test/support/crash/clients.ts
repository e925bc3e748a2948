// Clients that rent, stop, bid, pay and limit. Each repeats its request, under its own idempotency key, until it has an
// answer.
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../../server/src/base/clock.ts";
import type { Answer, Berth } from "../berth.ts";
import type { Account } from "./world.ts";
import { until } from "../until.ts";

const CLIENTS_PER_USER = 1;
const RICH_DOLLARS = 20_000;
/** Credit for some minutes of the rentals here, so that it is used up again and again. */
const POOR_DOLLARS = 40;
const USERS = ["ann", "bob", "cat", "poor", "capped"] as const;
const RETRY_MS = 50;
const PAUSE_MS = 400;
/** The most instances and volumes of one user at a time. */
const INSTANCES_MAX = 5;
const VOLUMES_MAX = 2;

/** A service whose parts may be away, and its accounts. */
export type ClientWorld = {
  any(random: () => number): Pick<Berth, "call" | "adminKey">;
  anAccount(email: string, dollars: number): Promise<Account>;
};

/** A request under one idempotency key, with its final answer. */
export type Asked = {
  readonly what: What;
  readonly key: string;
  readonly user: Account;
  /** The receiver of a transfer or grant. */
  readonly payee?: Account;
  readonly cents: number;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  readonly status: number;
  /** The id of the instance or volume that the request made or named. */
  readonly id: number;
};
type What = "rent" | "bid" | "stop" | "start" | "destroy" | "transfer" | "grant" | "cap" | "volume" | "delete volume";

type Request = {
  readonly what: What;
  readonly user: Account;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly payee?: Account;
  readonly cents?: number;
  readonly id?: number;
  readonly isAdmins?: boolean;
};

export class CrashClients {
  readonly asked: Asked[] = [];
  readonly users: readonly Account[];
  /** Answers that no client should get while a part of the service is away: anything but an absence with a time to come back. */
  readonly wrongAnswers: string[] = [];
  readonly #world: ClientWorld;
  readonly #random: () => number;
  #count = 0;
  #isStopped = false;
  #isAbandoned = false;
  #loops: readonly Promise<void>[] = [];
  #written = Promise.withResolvers<number>();
  #writtenSinceMs = Infinity;

  private constructor(world: ClientWorld, random: () => number, users: readonly Account[]) {
    this.#world = world;
    this.#random = random;
    this.users = users;
  }

  static async open(world: ClientWorld, random: () => number): Promise<CrashClients> {
    const users: Account[] = [];
    for (const name of USERS) {
      users.push(await world.anAccount(`${name}@example.com`, name === "poor" ? POOR_DOLLARS : RICH_DOLLARS));
    }
    return new CrashClients(world, random, users);
  }

  /** The credit that each user was given with its account. */
  initialDollars(user: Account): number {
    return user.email.startsWith("poor") ? POOR_DOLLARS : RICH_DOLLARS;
  }

  begin(): void {
    this.#isStopped = false;
    this.#loops = this.users.flatMap((user) => Array.from({ length: CLIENTS_PER_USER }, () => this.#loop(user)));
  }

  /** Ends all clients, even those that still wait for an answer. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    this.#isStopped = true;
    await Promise.allSettled(this.#loops);
  }

  /** Waits until each client has the answer it asked for. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
  }

  /** The moment (monotonic) at which the next request that is sent from now on is done. */
  nextWritten(): Promise<number> {
    this.#written = Promise.withResolvers<number>();
    this.#writtenSinceMs = systemClock.now().getTime();
    return this.#written.promise;
  }

  acknowledged(): number {
    return this.asked.filter(({ status }) => status === 200).length;
  }

  done(what: What): readonly Asked[] {
    return this.asked.filter((one) => one.what === what && one.status === 200);
  }

  /** Destroys all instances and volumes of all users. */
  async destroyAll(): Promise<void> {
    for (const user of this.users) {
      for (const id of this.#instancesOf(user)) await this.#destroy(user, id);
      for (const id of this.#volumesOf(user)) await this.#deleteVolume(user, id);
    }
  }

  async #loop(user: Account): Promise<void> {
    while (!this.#isStopped) {
      await this.#act(user);
      await delay(PAUSE_MS * this.#random());
    }
  }

  async #act(user: Account): Promise<void> {
    const own = this.#instancesOf(user);
    const [dice, one] = [this.#random(), this.#pick(own)];
    if (dice < 0.3 && own.length < INSTANCES_MAX) return this.#rent(user);
    if (dice < 0.42 && one !== undefined) return this.#setState(user, one, "stopped");
    if (dice < 0.56 && one !== undefined) return this.#setState(user, one, "running");
    if (dice < 0.64 && one !== undefined) return this.#destroy(user, one);
    if (dice < 0.74 && one !== undefined) return this.#bid(user, one);
    if (dice < 0.82) return this.#transfer(user);
    if (dice < 0.88) return this.#grant(user);
    if (dice < 0.92 && user.email.startsWith("capped")) return this.#cap(user);
    return this.#useVolume(user);
  }

  async #rent(user: Account): Promise<void> {
    const found = await this.#search(user, "/api/v0/bundles/", { limit: 64, num_gpus: { lte: 2 } });
    const offer = this.#pick(found);
    if (offer === undefined) return;
    const price = this.#random() < 0.5 ? {} : { price: this.#bidPrice() };
    const body = { image: "alpine", disk: 8, ...price };
    await this.#ask({ what: "rent", user, method: "PUT", path: `/api/v0/asks/${offer}/`, body });
  }

  /** Rents GPUs of this machine on demand as soon as they are offered; returns the instance. */
  async rentOf(user: Account, machineId: number): Promise<number> {
    const query = { limit: 64, machine_id: { eq: machineId }, num_gpus: { lte: 1 } };
    return until(`a rental of machine ${machineId}`, async () => {
      const [offer] = await this.#search(user, "/api/v0/bundles/", query);
      if (offer === undefined) return undefined;
      const body = { image: "alpine", disk: 8 };
      const { status, id } = await this.#ask({
        what: "rent",
        user,
        method: "PUT",
        path: `/api/v0/asks/${offer}/`,
        body,
      });
      return status === 200 && id;
    });
  }

  async #setState(user: Account, id: number, state: "running" | "stopped"): Promise<void> {
    const what = state === "running" ? "start" : "stop";
    await this.#ask({ what, user, method: "PUT", path: `/api/v0/instances/${id}/`, body: { state }, id });
  }

  async #destroy(user: Account, id: number): Promise<void> {
    await this.#ask({ what: "destroy", user, method: "DELETE", path: `/api/v0/instances/${id}/`, id });
  }

  async #bid(user: Account, id: number): Promise<void> {
    const body = { client_id: "me", price: this.#bidPrice() };
    await this.#ask({ what: "bid", user, method: "PUT", path: `/api/v0/instances/bid_price/${id}/`, body, id });
  }

  async #transfer(user: Account): Promise<void> {
    const payee = this.#pick(this.users.filter((other) => other !== user));
    if (payee === undefined) return;
    const cents = 1 + Math.floor(this.#random() * 200);
    const body = { recipient: payee.email, amount: cents / 100 };
    const path = "/api/v0/commands/transfer_credit/";
    await this.#ask({ what: "transfer", user, method: "PUT", path, body, payee, cents });
  }

  async #grant(payee: Account): Promise<void> {
    const cents = 100 + Math.floor(this.#random() * 400);
    const body = { email: payee.email, amount: cents / 100 };
    const given = { user: payee, payee, cents, isAdmins: true } as const;
    await this.#ask({ what: "grant", method: "POST", path: "/api/v0/admin/credit/", body, ...given });
  }

  /** Sets a cap, mostly above the spending, at times below: instances are then stopped, or not let in. */
  async #cap(user: Account): Promise<void> {
    const limit = this.#random() < 0.3 ? 1 + Math.floor(this.#random() * 40) : 5_000;
    const body = { scope: "account", period: "day", limit };
    await this.#ask({ what: "cap", user, method: "PUT", path: "/api/v0/caps/", body });
  }

  async #useVolume(user: Account): Promise<void> {
    const own = this.#volumesOf(user);
    const one = this.#pick(own);
    if (one !== undefined && (own.length >= VOLUMES_MAX || this.#random() < 0.4)) return this.#deleteVolume(user, one);
    const id = this.#pick(await this.#search(user, "/api/v0/volumes/search/", { limit: 64 }));
    if (id === undefined) return;
    await this.#ask({ what: "volume", user, method: "PUT", path: "/api/v0/volumes/", body: { id, size: 5 } });
  }

  async #deleteVolume(user: Account, id: number): Promise<void> {
    await this.#ask({ what: "delete volume", user, method: "DELETE", path: "/api/v0/volumes/", body: { id }, id });
  }

  /** Offers of a moment ago; none while no server answers. */
  async #search(user: Account, path: string, body: object): Promise<readonly number[]> {
    const answer = await this.#world
      .any(this.#random)
      .call("POST", path, { key: user.key, body })
      .catch(() => undefined);
    if (answer !== undefined && answer.status >= 500) this.#judge(path, answer);
    if (answer === undefined || answer.status >= 500) return [];
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body.offers.map(({ id }: { readonly id: number }) => id);
  }

  async #ask({ what, user, method, path, body, isAdmins = false, cents = 0, ...about }: Request): Promise<Asked> {
    const key = `${what} ${(this.#count += 1)}`;
    const sentAtMs = systemClock.now().getTime();
    const answer = await this.#untilAnswered(key, method, path, { body, isAdmins, user });
    // A bid that does not run at once is answered by an error that names the instance it made.
    const status = answer.body?.error === "bid_too_low" ? 200 : answer.status;
    const id = about.id ?? Number(answer.body?.new_contract ?? answer.body?.id ?? 0);
    const answeredAtMs = systemClock.now().getTime();
    const asked: Asked = { what, key, user, cents, sentAtMs, answeredAtMs, status, ...about, id };
    this.asked.push(asked);
    if (status === 200 && sentAtMs > this.#writtenSinceMs) this.#written.resolve(performance.now());
    return asked;
  }

  async #untilAnswered(
    key: string,
    method: string,
    path: string,
    { body, isAdmins, user }: { readonly body: object | undefined; readonly isAdmins: boolean; readonly user: Account },
  ): Promise<Answer> {
    while (!this.#isAbandoned) {
      // The key is the same at all servers: the client need not know which one carried the request out before it died.
      const berth = this.#world.any(this.#random);
      const call = { key: isAdmins ? berth.adminKey : user.key, body, headers: { "idempotency-key": key } };
      const answer = await berth.call(method, path, call).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return answer;
      if (answer !== undefined) this.#judge(key, answer);
      await delay(RETRY_MS);
    }
    throw new Error(`${key} was never answered`);
  }

  #judge(key: string, { status, retryAfter, text }: Answer): void {
    // A proxy in front says 502 of a server that died with the request.
    if ([502, 503, 504].includes(status) && retryAfter !== undefined) return;
    this.wrongAnswers.push(`${key} was answered ${status}, Retry-After ${String(retryAfter)}: ${text.slice(0, 200)}`);
  }

  #instancesOf(user: Account): readonly number[] {
    return this.#left(user, "rent", "destroy");
  }

  #volumesOf(user: Account): readonly number[] {
    return this.#left(user, "volume", "delete volume");
  }

  #left(user: Account, made: What, ended: What): readonly number[] {
    const gone = new Set(this.done(ended).map(({ id }) => id));
    return this.done(made).flatMap((one) => (one.user === user && !gone.has(one.id) ? [one.id] : []));
  }

  #bidPrice(): number {
    return 6 + Math.floor(this.#random() * 2_400) / 100;
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#random() * list.length)];
  }
}
