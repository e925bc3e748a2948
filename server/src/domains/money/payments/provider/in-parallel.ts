/** Requests to a provider at once, so that a loop's run ends in time even when none is answered. */
const WIDTH = 10;

/**
 * Works on the items, several at once, and resolves with the results in their order. When one throws, all begun work is
 * awaited first.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += WIDTH) {
    const settled = await Promise.allSettled(items.slice(start, start + WIDTH).map(work));
    for (const outcome of settled) {
      if (outcome.status === "rejected") throw outcome.reason;
      results.push(outcome.value);
    }
  }
  return results;
}
