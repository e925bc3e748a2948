import type { Policy, TrafficResult } from "../../../server/src/domains/serverless/simulation/types.ts";
import { knativePolicy } from "./knative.ts";
import { queueDelayPolicy } from "./queue-delay.ts";

/** A known rule with many values of its own parameters, the default ones first. */
export type KnownRule = {
  readonly name: string;
  readonly settings: readonly { readonly knob: string; readonly policy: () => Policy }[];
};

const UTILIZATIONS = [0.7, 1, 0.85, 0.55, 0.4, 0.3, 0.2, 0.1];
const DELAYS_S = [4, 1, 0.1];
const IDLE_S = [5, 60, 300, 900];

/**
 * The known rules, each with many settings: a rule that is late more often is cheaper, so rules are compared where they are
 * late equally often, or cost the same.
 */
export function knownRules(parallelCount: number): readonly KnownRule[] {
  return [
    {
      name: "Knative's KPA",
      settings: UTILIZATIONS.map((targetUtilization) => ({
        knob: `${Math.round(100 * targetUtilization)} % used`,
        policy: () => knativePolicy(parallelCount, { targetUtilization }),
      })),
    },
    {
      name: "queue delay",
      settings: DELAYS_S.flatMap((delayS) =>
        IDLE_S.map((idleS) => ({
          knob: `${delayS} s, idle ${idleS} s`,
          policy: () => queueDelayPolicy(parallelCount, { delayMs: delayS * 1_000, idleMs: idleS * 1_000 }),
        })),
      ),
    },
  ];
}

export type Point = { readonly knob: string; readonly result: TrafficResult };

/** The cheapest setting of a rule with which no more requests are late; undefined when it has none. */
export function cheapestAt(lateShare: number, points: readonly Point[]): Point | undefined {
  const able = points.filter(({ result }) => result.lateShare <= lateShare);
  return able.toSorted((a, b) => a.result.gpuHours - b.result.gpuHours)[0];
}

/** The setting of a rule with the fewest late requests that costs no more; undefined when each costs more. */
export function promptestAt(gpuHours: number, points: readonly Point[]): Point | undefined {
  const able = points.filter(({ result }) => result.gpuHours <= gpuHours);
  return able.toSorted((a, b) => a.result.lateShare - b.result.lateShare)[0];
}
