import type { Clock } from "../base/clock.ts";

const WAIT_MS = 30_000;
const LOOK_MS = 250;

/** Waits for a volume that was just rented and is being made, or whose mount is looked for after a start of the agent. */
export async function awaitVolume(
  { clock, isThere }: { readonly clock: Clock; readonly isThere: () => boolean },
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + WAIT_MS;
  while (!isThere() && !signal.aborted && clock.monotonicMs() < untilMs) await clock.sleep(LOOK_MS, signal);
}
