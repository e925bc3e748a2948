import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { keepSamples, takeSample } from "./service.ts";

export function statisticsLoops({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): readonly Loop[] {
  return [
    {
      name: "sample-market",
      description: "Stores every five minutes the number of GPUs and their prices.",
      // More often than it writes, so that a restart does not leave a gap.
      everyMs: 60_000,
      run: () => withTransaction(database, clock, async (tx) => ({ samples: await takeSample(tx) })),
    },
    {
      name: "keep-market-samples",
      description: "Rolls market samples up to hours and days, and deletes old ones.",
      everyMs: 300_000,
      run: () => withTransaction(database, clock, keepSamples),
    },
  ];
}
