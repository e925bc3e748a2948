import { invariant } from "./invariant.ts";
import { runFor } from "./request-context.ts";

export type MicroBatcherOptions<Request, Response> = {
  /**
   * Does a whole batch and answers each request, in order. Either all of it takes effect or, when it throws, none: its
   * requests are then tried again one by one. Only an answer that got lost on the way makes a request run twice, so a
   * request must be safe to repeat.
   */
  readonly run: (batch: readonly Request[]) => Promise<readonly Response[]>;
  readonly maxBatch: number;
  /** Waits before each batch to make it larger: for requests that are many and in no hurry. */
  readonly gather?: () => Promise<void>;
};

type Waiting<Request, Response> = {
  readonly request: Request;
  readonly resolve: (response: Response) => void;
  readonly reject: (reason: unknown) => void;
};

/**
 * Makes one call out of the requests that arrive while the last call is under way, in the order of their arrival. A
 * request that finds nothing under way goes at once, so that a lone caller waits for nobody. Of a batch that fails, each
 * request is tried alone: one that cannot be done fails by itself.
 */
export class MicroBatcher<Request, Response> {
  readonly #options: MicroBatcherOptions<Request, Response>;
  #waiting: Waiting<Request, Response>[] = [];
  #draining: Promise<void> | undefined;

  constructor(options: MicroBatcherOptions<Request, Response>) {
    invariant(options.maxBatch >= 1, "a batch holds at least one request");
    this.#options = options;
  }

  submit(request: Request): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      // A batch works for several requests, and for none of them alone.
      this.#draining ??= runFor(undefined, () => this.#drain());
    });
  }

  /** Resolves when nothing waits or is under way: before the process closes what `run` works on. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (this.#options.gather !== undefined) await this.#options.gather();
      const batch = this.#waiting;
      this.#waiting = batch.length > this.#options.maxBatch ? batch.splice(this.#options.maxBatch) : [];
      await this.#runBatch(batch);
    }
    this.#draining = undefined;
  }

  /** Settles every request of the batch and never throws. */
  async #runBatch(batch: readonly Waiting<Request, Response>[]): Promise<void> {
    try {
      const responses = await this.#options.run(batch.map(({ request }) => request));
      invariant(responses.length === batch.length, "a batch answers each of its requests");
      batch.forEach(({ resolve }, index) => resolve(responses[index] as Response));
    } catch (error) {
      const [only] = batch;
      if (batch.length === 1) only?.reject(error);
      else for (const waiting of batch) await this.#runBatch([waiting]);
    }
  }
}
