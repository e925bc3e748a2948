import type { Clock } from "./clock.ts";
import type { WorkerEnvironment } from "./environment.ts";
import type { ServerConnection } from "./server-connection.ts";
import type { Workload } from "./workload.ts";

const QUIET_MS = 10_000;
const APART_MS = 1_000;
const FINISHED_AT_ONCE = 1_000;
const VERSION = "berth-1";

/**
 * Reports the worker's state to the server, regularly and soon after a change, and the requests that it has finished.
 */
export class Reporter {
  readonly #connection: ServerConnection;
  readonly #clock: Clock;
  readonly #environment: Pick<WorkerEnvironment, "id" | "token" | "url">;
  readonly #workload: Workload;
  readonly #ended: AbortSignal;
  #changed = new AbortController();
  #loops: Promise<unknown> = Promise.resolve();
  #telling: Promise<void> | undefined;
  /** Seconds that the start took, until a report has carried them. */
  #loadSeconds: number | undefined;
  #perf = 0;
  #failure = "";

  constructor(input: {
    readonly connection: ServerConnection;
    readonly clock: Clock;
    readonly environment: Pick<WorkerEnvironment, "id" | "token" | "url">;
    readonly workload: Workload;
    readonly ended: AbortSignal;
  }) {
    this.#connection = input.connection;
    this.#clock = input.clock;
    this.#environment = input.environment;
    this.#workload = input.workload;
    this.#ended = input.ended;
  }

  begin(): void {
    this.#loops = this.#keepReporting();
  }

  /** Resolves after the report that is being sent, if any; the loop itself ends when `ended` aborts. */
  async settled(): Promise<void> {
    await this.#loops;
    await this.#telling;
  }

  get failure(): string {
    return this.#failure;
  }

  ready(perf: number, loadSeconds: number): void {
    this.#perf = perf;
    // Zero would mean that it is still loading.
    this.#loadSeconds = Math.max(loadSeconds, 0.001);
    this.changed();
  }

  fail(failure: string): void {
    this.#failure = failure;
    this.changed();
  }

  changed(): void {
    this.#changed.abort();
    this.#telling ??= this.#tellFinished().finally(() => {
      this.#telling = undefined;
    });
  }

  async report(): Promise<void> {
    const { deltas } = this.#workload;
    const [loadSeconds, failure] = [this.#loadSeconds, this.#failure];
    const isTaken = await this.#connection.post("/worker_status/", {
      ...this.#identity(),
      ...this.#counts(),
      loadtime: loadSeconds ?? 0,
      error_msg: failure,
    });
    if (!isTaken) return;
    this.#workload.settle(deltas);
    if (loadSeconds !== undefined) this.#loadSeconds = undefined;
  }

  #identity(): object {
    const { id, token, url } = this.#environment;
    return { id, mtoken: token, version: VERSION, url };
  }

  #counts(): object {
    const { deltas, currentLoad, workingCount, receivedCount, workingRequestIdxs } = this.#workload;
    return {
      ...{ max_perf: this.#perf, cur_perf: deltas.served, new_load: deltas.received, cur_load: currentLoad },
      ...{ rej_load: deltas.rejected, num_requests_working: workingCount, num_requests_recieved: receivedCount },
      ...{ working_request_idxs: workingRequestIdxs, additional_disk_usage: 0, cur_capacity: 0, max_capacity: 0 },
    };
  }

  async #keepReporting(): Promise<void> {
    while (!this.#ended.aborted) {
      this.#changed = new AbortController();
      const sentAtMs = this.#clock.monotonicMs();
      await this.report();
      await this.#clock.sleep(QUIET_MS, AbortSignal.any([this.#changed.signal, this.#ended]));
      const leftMs = APART_MS - (this.#clock.monotonicMs() - sentAtMs);
      if (leftMs > 0) await this.#clock.sleep(leftMs, this.#ended);
    }
  }

  /** Reports until the server has taken all finished requests: it counts each as load until then. */
  async #tellFinished(): Promise<void> {
    const { id, token } = this.#environment;
    while (this.#workload.finishedCount > 0) {
      const requests = this.#workload.takeFinished(FINISHED_AT_ONCE);
      if (await this.#connection.post("/delete_requests/", { worker_id: id, mtoken: token, requests })) continue;
      this.#workload.putBack(requests);
      if (this.#ended.aborted) return;
      await this.#clock.sleep(APART_MS, this.#ended);
    }
  }
}
