/** So many requests are made to a provider at once: a run of a loop has to end in time even when none is answered. */
const WIDTH = 10;

/**
 * Does the work for each item, several at once, and resolves with what came of each, in their order. When one throws, all
 * that were begun are awaited first.
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
