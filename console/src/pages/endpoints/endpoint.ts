// Endpoints as the console shows them: the queries that several of its parts share, and words for their figures.
import { queryOptions } from "@tanstack/react-query";
import {
  endpointHistory,
  endpointShow,
  endpointWorkers,
  type EndpointHistoryInput,
  type EndpointHistoryResponse,
} from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";

/** Load and queue change without an event, so they are asked again this often. */
const AGAIN_MS = 15_000;

export function endpointQuery(id: number) {
  return ask("endpoint.show", endpointShow, { id });
}

export function workersQuery(id: number) {
  return queryOptions({ ...ask("endpoint.workers", endpointWorkers, { body: { id } }), refetchInterval: AGAIN_MS });
}

type Span = NonNullable<EndpointHistoryInput["query"]>;

/** The past of an endpoint; the last hour by the clock of the server, unless a span is given. */
export function historyQuery(id: number, span: Span = {}) {
  return queryOptions({ ...ask("endpoint.history", endpointHistory, { id, query: span }), refetchInterval: AGAIN_MS });
}

/** `1,240 units/s`, `0.25 units/s`. */
export function unitsText(value: number): string {
  return `${figure(value)} units/s`;
}

/** A number with three digits that count. */
export function figure(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

/** `0.8 s`, `12 s`. */
export function secondsText(value: number): string {
  return `${figure(value)} s`;
}

type Workers = EndpointHistoryResponse["workers"];

/** The last known value of a line. */
export function lastOf(values: readonly (number | null)[]): number | undefined {
  return values.findLast((value) => value !== null) ?? undefined;
}

/** `2 ready, 1 starting`; undefined when no workers were ever stored. */
export function workersText(workers: Workers): string | undefined {
  const kinds = ["ready", "starting", "stopping", "stopped", "failed"] as const;
  const known = kinds.map((kind) => [kind, lastOf(workers[kind])] as const);
  if (known.every(([, number]) => number === undefined)) return undefined;
  const words = known.flatMap(([kind, number = 0]) => (number === 0 ? [] : [`${number} ${kind}`]));
  return words.length === 0 ? "none" : words.join(", ");
}

const STATE_SENTENCES: Readonly<Record<string, string>> = {
  active: "Workers come and go with the load",
  suspended: "Its workers stay as they are",
  stopped: "Its workers are stopped, and requests are refused",
};

/** The sentence beside the state of an endpoint; undefined for a state that is not known here. */
export function stateSentence(state: string): string | undefined {
  return STATE_SENTENCES[state];
}
