import type { LoadSample } from "../autoscaling/rules/types.ts";
import type { Arrival } from "./types.ts";

const SECOND_MS = 1_000;

type Second = Pick<LoadSample, "secondMs" | "requestCount" | "load">;

/**
 * Turns an endpoint's own past into arrivals, in milliseconds from `fromMs`. The requests of a second are spread
 * evenly over it and share its load evenly, as the stored traffic has no finer detail.
 */
export function arrivalsOf(seconds: readonly Second[], fromMs: number): readonly Arrival[] {
  return seconds.flatMap(({ secondMs, requestCount, load }) =>
    Array.from({ length: requestCount }, (_, index) => ({
      atMs: secondMs - fromMs + (index * SECOND_MS) / requestCount,
      load: load / requestCount,
    })),
  );
}
