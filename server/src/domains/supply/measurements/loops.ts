import type { Clock } from "../../../base/clock.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import type { MeasurementIntake } from "./intake.ts";
import { forgetBlocks, joinQuarters, rollUpSamples } from "./keep-service.ts";
import { SAMPLE_S } from "./rules/tiers.ts";

/** Transactions of one run: a thousand machines are done within their next minutes. */
const ROUNDS_MAX = 10;

type Deps = { readonly database: Database; readonly clock: Clock; readonly intake: MeasurementIntake };

export function measurementLoops({ database, clock, intake }: Deps): readonly Loop[] {
  return [
    {
      name: "store-measurements",
      description: "Stores the last measurements of the machines that are connected to this server.",
      everyMs: SAMPLE_S * 1000,
      run: () => intake.flush(),
    },
    {
      name: "roll-up-measurements",
      description: "Makes blocks of measurements whose quarter of an hour is over.",
      everyMs: 30_000,
      run: async () => {
        const sum = { machines: 0, blocks: 0 };
        for (let round = 0; round < ROUNDS_MAX; round += 1) {
          const done = await withTransaction(database, clock, rollUpSamples);
          if (done.machines === 0) break;
          sum.machines += done.machines;
          sum.blocks += done.blocks;
        }
        return sum;
      },
    },
    {
      name: "keep-measurements",
      description: "Joins measurements of quarter hours to days, and deletes old measurements.",
      everyMs: 60_000,
      run: async () => ({
        ...(await withTransaction(database, clock, joinQuarters)),
        ...(await withTransaction(database, clock, forgetBlocks)),
      }),
    },
  ];
}
