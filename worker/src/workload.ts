export type Outcome = "Success" | "Error" | "Cancelled" | "Rejected";

/** A request that was taken; times are seconds since 1970, as the server reads them. */
export type Entry = {
  /** The number of the request; undefined within a session, as the server counts the session. */
  readonly requestIdx: number | undefined;
  readonly load: number;
  readonly enteredAt: number;
  startedAt: number | undefined;
};

/** A finished request in the form of `POST /delete_requests/`. */
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

/** The present and finished work of a worker, as its reports show it. */
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

  /** Ends an entry; only the first end counts. */
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

  /** Subtracts the counts of a report that was taken. */
  settle(told: Deltas): void {
    this.#add({ served: -told.served, received: -told.received, rejected: -told.rejected });
  }

  takeFinished(countMax: number): readonly Finished[] {
    return this.#finished.splice(0, countMax);
  }

  /** Puts back finished requests whose report failed: the next report starts with them. */
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
