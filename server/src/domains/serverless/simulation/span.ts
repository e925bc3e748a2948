import { invalid } from "../../../base/errors.ts";
import type { SimulateBody } from "./schema.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Traffic is kept for this long. */
const SPAN_MAX_MS = 7 * DAY_MS;
/** Allowance for clients whose clocks are ahead. */
const SKEW_MS = 60_000;
/** A cost above this is a mistake, as for requests that are routed. */
const COST_MAX = 1e12;

export type Span = { readonly fromMs: number; readonly untilMs: number };

/** The requested period of the past, in whole seconds; throws `invalid` naming a wrong field. */
export function readPast({ from, to }: Pick<SimulateBody, "from" | "to">, nowMs: number): Span {
  const untilMs = to === undefined ? nowMs : to * SECOND_MS;
  const fromMs = from === undefined ? untilMs - DAY_MS : from * SECOND_MS;
  if (!(untilMs <= nowMs + SKEW_MS)) throw invalid("to", "to must be Unix seconds and not lie in the future");
  if (!(fromMs < untilMs)) throw invalid("from", "from must be Unix seconds and lie before to");
  if (fromMs < nowMs - SPAN_MAX_MS - SKEW_MS) {
    throw invalid("from", "from: traffic is kept for seven days; take a later time");
  }
  const whole = (ms: number) => Math.floor(ms / SECOND_MS) * SECOND_MS;
  return { fromMs: whole(fromMs), untilMs: Math.max(whole(untilMs), whole(fromMs) + SECOND_MS) };
}

/** Requests of a trace, as pairs of milliseconds since the first one and load. */
export function readTrace({ trace, from, to }: Pick<SimulateBody, "trace" | "from" | "to">): Float64Array<ArrayBuffer> {
  if (from !== undefined || to !== undefined)
    throw invalid("trace", "trace has times of its own: leave from and to out");
  const requests = trace ?? [];
  const numbers = new Float64Array(2 * requests.length);
  const firstS = requests[0]?.[0] ?? 0;
  let lastS = firstS;
  for (const [index, [atS = 0, cost = 0]] of requests.entries()) {
    const name = `trace[${index}]`;
    if (!(atS >= 0 && Number.isFinite(atS))) throw invalid("trace", `${name}: seconds must be 0 or more`);
    if (atS < lastS) throw invalid("trace", `${name}: seconds must not be less than those of the request before`);
    if (!(cost >= 0 && cost <= COST_MAX)) throw invalid("trace", `${name}: the cost must be from 0 to ${COST_MAX}`);
    if ((atS - firstS) * SECOND_MS > SPAN_MAX_MS) throw invalid("trace", `${name}: a trace lasts seven days at most`);
    numbers.set([(atS - firstS) * SECOND_MS, cost], 2 * index);
    lastS = atS;
  }
  return numbers;
}

/** The interval between decisions: longer for long periods; a request that waits still calls for a decision at once. */
export function intervalOf(spanMs: number): number {
  if (spanMs <= 2 * HOUR_MS) return SECOND_MS;
  return spanMs <= DAY_MS ? 5 * SECOND_MS : 20 * SECOND_MS;
}
