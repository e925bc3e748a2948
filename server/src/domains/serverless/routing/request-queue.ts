import type { RoutedRequest } from "./routed-request.ts";

/** A queue, first come first served: removal from the middle costs as little as removal from the front. */
export class RequestQueue {
  #head: RoutedRequest | undefined;
  #tail: RoutedRequest | undefined;
  #entryCount = 0;
  #sum = 0;

  get first(): RoutedRequest | undefined {
    return this.#head;
  }

  get count(): number {
    return this.#entryCount;
  }

  get load(): number {
    return this.#sum;
  }

  /** Inserts a request by its sequence: at the end, unless it was in the queue before. */
  add(request: RoutedRequest): void {
    const before = this.#placeOf(request.sequence);
    const after = before === undefined ? this.#head : before.next;
    request.previous = before;
    request.next = after;
    if (before === undefined) this.#head = request;
    else before.next = request;
    if (after === undefined) this.#tail = request;
    else after.previous = request;
    this.#entryCount += 1;
    this.#sum += request.cost;
  }

  remove(request: RoutedRequest): void {
    const { previous: before, next: after } = request;
    if (before === undefined) this.#head = after;
    else before.next = after;
    if (after === undefined) this.#tail = before;
    else after.previous = before;
    request.previous = undefined;
    request.next = undefined;
    this.#entryCount -= 1;
    // Sums of fractions drift; an empty queue weighs exactly nothing.
    this.#sum = this.#entryCount === 0 ? 0 : Math.max(0, this.#sum - request.cost);
  }

  /** The number of requests before it, counted up to `limit`. */
  countBefore(request: RoutedRequest, limit: number): number {
    let count = 0;
    for (let each = request.previous; each !== undefined && count < limit; each = each.previous) count += 1;
    return count;
  }

  /** Iterates from the first to the last; the current request may be removed. */
  *[Symbol.iterator](): Generator<RoutedRequest> {
    let request = this.#head;
    while (request !== undefined) {
      const { next } = request;
      yield request;
      request = next;
    }
  }

  /** The last request with an earlier sequence. */
  #placeOf(sequence: number): RoutedRequest | undefined {
    if (this.#tail === undefined || this.#tail.sequence < sequence) return this.#tail;
    // A request that comes back was among the first, so the search for its place starts at the head.
    let before: RoutedRequest | undefined;
    for (let each = this.#head; each !== undefined && each.sequence < sequence; each = each.next) before = each;
    return before;
  }
}
