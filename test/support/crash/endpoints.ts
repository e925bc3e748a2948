// Endpoints that live while the server is killed: their owners scale them, change their recipe and delete them, and their
// clients come all the time.
import { setTimeout as delay } from "node:timers/promises";
import type { EndpointOptions } from "../../../sdk/src/endpoint-client.ts";
import type { Account, CrashWorld } from "./world.ts";
import { startEndpointLoad, type EndpointLoad, type Outcome } from "../serverless/endpoint-load.ts";

/** The most workers of an endpoint at any moment of its life. */
export const WORKERS_MAX = 3;
const REQUESTS_PER_SECOND = 6;
/** Waiting requests of one endpoint. Each asks again every second: with more, a slow machine would not serve. */
const WAITING_MAX = 100;
const RETRY_MS = 100;
const CHANGES_PER_LIFE = 4;
/** Answers between two changes, unless nobody is served for too long. */
const ANSWERS_MAX = 30;
const [LOOK_EVERY_MS, PATIENCE_MS] = [100, 30_000];
/** Minimum loads for which an endpoint needs from none to all of the workers of `workers.ts`. */
const MIN_LOADS = [0, 15, 35, 55] as const;

export type Life = {
  readonly name: string;
  readonly load: EndpointLoad;
  /** The time of the request to delete it; undefined as long as it lives. */
  deletedAtMs: number | undefined;
};

export class CrashEndpoints {
  readonly lives: Life[] = [];
  readonly #world: CrashWorld;
  readonly #owner: Account;
  readonly #random: () => number;
  #count = 0;
  #isStopped = false;
  #isAbandoned = false;
  #loops: readonly Promise<void>[] = [];

  constructor(world: CrashWorld, owner: Account, random: () => number) {
    this.#world = world;
    this.#owner = owner;
    this.#random = random;
  }

  begin(laneCount: number): void {
    this.#loops = Array.from({ length: laneCount }, async () => {
      while (!this.#isStopped) await this.#live();
    });
  }

  /** Ends all lives as their owners would, and waits until each client has its answer. */
  async stop(): Promise<readonly Outcome[]> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
    return (await Promise.all(this.lives.map(({ load }) => load.stop()))).flat();
  }

  async abandon(): Promise<void> {
    this.#isStopped = true;
    this.#isAbandoned = true;
    await Promise.all(this.lives.map(({ load }) => load.abandon()));
    await Promise.allSettled(this.#loops);
  }

  async #live(): Promise<void> {
    const name = `life-${(this.#count += 1)}`;
    const made = await this.#ask("POST", "/api/v0/endptjobs/", { endpoint_name: name, ...this.#scale() });
    const id = Number(made["result"]);
    const { result } = await this.#ask("GET", `/api/v0/endptjobs/${id}/`);
    const endpointKey = String((result as Readonly<Record<string, unknown>>)["api_key"]);
    const options: EndpointOptions = { baseUrl: this.#world.any(this.#random).url, endpoint: name, endpointKey };
    const life: Life = {
      name,
      load: startEndpointLoad({ ...options, maxPollIntervalMs: 1_000 }, WAITING_MAX),
      deletedAtMs: undefined,
    };
    this.lives.push(life);
    // No worker serves the requests yet: they are held.
    life.load.setRate(REQUESTS_PER_SECOND);
    const recipe = { endpoint_id: id, search_params: "num_gpus=1 verified=any", test_workers: 1, cold_workers: 0 };
    const group = await this.#ask("POST", "/api/v0/workergroups/", { ...recipe, launch_args: launchArgs(1) });
    for (let change = 1; change <= CHANGES_PER_LIFE && !this.#isStopped; change += 1) {
      await this.#untilServed(life.load, Math.floor(this.#random() * ANSWERS_MAX));
      if (this.#random() < 0.3) {
        const body = { launch_args: launchArgs(change + 1) };
        await this.#ask("PUT", `/api/v0/workergroups/${String(group["id"])}/`, body);
      } else await this.#ask("PUT", `/api/v0/endptjobs/${id}/`, this.#scale());
    }
    life.deletedAtMs = performance.now();
    await this.#ask("DELETE", `/api/v0/endptjobs/${id}/`);
    life.load.setRate(0);
  }

  async #untilServed({ outcomes }: EndpointLoad, more: number): Promise<void> {
    const [enough, untilMs] = [outcomes.length + more, performance.now() + PATIENCE_MS];
    while (!this.#isStopped && outcomes.length < enough && performance.now() < untilMs) await delay(LOOK_EVERY_MS);
  }

  #scale(): object {
    const pick = <T>(list: readonly T[]) => list[Math.floor(this.#random() * list.length)];
    const max_workers = 1 + Math.floor(this.#random() * WORKERS_MAX);
    return { max_workers, min_load: pick(MIN_LOADS), cold_workers: 0, cold_mult: 1, inactivity_timeout: 5 };
  }

  /** Repeats the request, under the same key, until there is an answer. */
  async #ask(method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
    const headers = { "idempotency-key": `${method} ${(this.#count += 1)}` };
    for (;;) {
      const call = { key: this.#owner.key, headers, ...(body === undefined ? {} : { body }) };
      const answer = await this.#world
        .any(this.#random)
        .call(method, path, call)
        .catch(() => undefined);
      if (answer?.status === 200) return answer.body;
      if (answer !== undefined && answer.status < 500) throw new Error(`${method} ${path}: ${answer.text}`);
      if (this.#isAbandoned) throw new Error(`${method} ${path} was never answered`);
      await delay(RETRY_MS);
    }
  }
}

function launchArgs(recipe: number): string {
  return `--image alpine --disk 8 --env '-e RECIPE=${recipe}' --args`;
}
