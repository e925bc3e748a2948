export type Outcome = "Success" | "Error" | "Cancelled" | "Rejected";

/** A request that was taken; times are seconds since 1970, as the server reads them. */
export type Entry = {
  /** Undefined for one within a session: the session is what the server counts. */
  readonly requestIdx: number | undefined;
  readonly load: number;
  readonly enteredAt: number;
  startedAt: number | undefined;
};

/** As `POST /delete_requests/` wants it. */
export type Finished = {
  readonly request_idx: number;
  readonly success: boolean;
  readonly status: Outcome;
  readonly entered_queue_at: number;
  readonly work_started_at: number | null;
  readonly work_completed_at: number;
};

/** Units since the last report that was taken. */
export type Deltas = { readonly served: number; readonly received: number; readonly rejected: number };

const NOTHING: Deltas = { served: 0, received: 0, rejected: 0 };

/** What a worker has to do and has done, as its reports tell it. */
export class Workload {
  readonly #entries = new Set<Entry>();
  #finished: Finished[] = [];
  #deltas = NOTHING;
  #receivedCount = 0;

  enter(requestIdx: number | undefined, load: number, at: number): Entry {
    const entry: Entry = { requestIdx, load, enteredAt: at, startedAt: undefined };
    this.#entries.add(entry);
    this.#receivedCount += 1;
    this.#add({ received: load });
    return entry;
  }

  start(entry: Entry, at: number): void {
    entry.startedAt ??= at;
  }

  /** The first end counts. */
  end(entry: Entry, status: Exclude<Outcome, "Rejected">, at: number): void {
    if (!this.#entries.delete(entry)) return;
    if (status === "Success") this.#add({ served: entry.load });
    if (status === "Cancelled") this.#add({ received: -entry.load });
    this.#finish(entry, status, at);
  }

  reject(requestIdx: number | undefined, load: number, at: number): void {
    this.#receivedCount += 1;
    this.#add({ rejected: load });
    this.#finish({ requestIdx, load, enteredAt: at, startedAt: undefined }, "Rejected", at);
  }

  get currentLoad(): number {
    return sum([...this.#entries].map(({ load }) => load));
  }

  get workingCount(): number {
    return this.#entries.size;
  }

  get receivedCount(): number {
    return this.#receivedCount;
  }

  get workingRequestIdxs(): readonly number[] {
    const idxs = [...this.#entries].flatMap(({ requestIdx }) => (requestIdx === undefined ? [] : [requestIdx]));
    return [...new Set(idxs)];
  }

  get deltas(): Deltas {
    return this.#deltas;
  }

  /** A report of these was taken: only what came since is left. */
  settle(told: Deltas): void {
    this.#add({ served: -told.served, received: -told.received, rejected: -told.rejected });
  }

  takeFinished(countMax: number): readonly Finished[] {
    return this.#finished.splice(0, countMax);
  }

  /** They could not be told: they are the first to be told later. */
  putBack(finished: readonly Finished[]): void {
    this.#finished = [...finished, ...this.#finished];
  }

  get finishedCount(): number {
    return this.#finished.length;
  }

  #finish({ requestIdx, enteredAt, startedAt }: Entry, status: Outcome, at: number): void {
    if (requestIdx === undefined) return;
    this.#finished.push({
      ...{ request_idx: requestIdx, success: status === "Success", status },
      ...{ entered_queue_at: enteredAt, work_started_at: startedAt ?? null, work_completed_at: at },
    });
  }

  #add(change: Partial<Deltas>): void {
    const { served, received, rejected } = this.#deltas;
    this.#deltas = {
      served: served + (change.served ?? 0),
      received: received + (change.received ?? 0),
      rejected: rejected + (change.rejected ?? 0),
    };
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
