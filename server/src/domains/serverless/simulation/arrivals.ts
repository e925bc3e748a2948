import type { LoadSample } from "../autoscaling/rules/types.ts";
import type { Arrival } from "./types.ts";

const SECOND_MS = 1_000;

type Second = Pick<LoadSample, "secondMs" | "requestCount" | "load">;

/**
 * An endpoint's own past as arrivals, counted from then on. What came within a second is spread evenly over it and shares
 * its load evenly, as nothing closer is kept.
 */
export function arrivalsOf(seconds: readonly Second[], fromMs: number): readonly Arrival[] {
  return seconds.flatMap(({ secondMs, requestCount, load }) =>
    Array.from({ length: requestCount }, (_, index) => ({
      atMs: secondMs - fromMs + (index * SECOND_MS) / requestCount,
      load: load / requestCount,
    })),
  );
}
