import type { Worker } from "../../../../sdk/src/index.ts";
import { figure, secondsText, unitsText } from "./endpoint.ts";

type Routed = {
  /** The address that the router gave; undefined while no worker can take the request. */
  readonly url: string | undefined;
  /** The router's own words when there is no address. */
  readonly status: string | undefined;
  /** The workers just before the router was asked. */
  readonly workers: readonly Worker[];
  readonly cost: number;
};

/** The reason of a route in a sentence, and the worker that it leads to. */
export function routeReason({ url, status, workers, cost }: Routed) {
  if (url === undefined) {
    const ready = workers.filter(({ status: state }) => state === "idle").length;
    const said = status === undefined ? "No worker can take it now." : `No worker can take it now: ${status}.`;
    return { sentence: `${said} ${ready} of ${workers.length} workers are ready.`, chosen: undefined };
  }
  const worker = workers.find((one) => one.url === url);
  if (worker === undefined) return { sentence: `It goes to ${url}, a worker that has just come.`, chosen: undefined };
  const { id, perf, cur_load: load = 0 } = worker;
  const rest =
    perf === undefined || perf === 0
      ? "which was not measured yet"
      : `which serves ${unitsText(perf)} and had ${figure(load)} units to do, so it finishes in about ${secondsText((load + cost) / perf)}`;
  return { sentence: `It goes to worker ${id}, ${rest}: the first to finish it among those with room.`, chosen: id };
}
