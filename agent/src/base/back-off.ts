export type BackOff = { readonly firstMs: number; readonly limitMs: number };

/** Delay before attempt number `attempt` (from 0): doubled each time up to the limit, then spread over its upper half. */
export function backOffDelay(backOff: BackOff, attempt: number, random: number): number {
  const full = Math.min(backOff.limitMs, backOff.firstMs * 2 ** Math.min(attempt, 30));
  return full * (0.5 + random * 0.5);
}
