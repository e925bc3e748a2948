import type { EndpointOptions } from "../../../sdk/src/endpoint-client.ts";
import { startEndpointLoad, type EndpointLoad } from "./endpoint-load.ts";
import type { Renter } from "../renter.ts";

/** How many units a second the program of `worker-program.ts` works here. */
export const UNITS_PER_SECOND = 20;

export type WorkerRecord = {
  readonly id: number;
  readonly status: string;
  readonly machine_id: number;
  readonly cur_load: number;
  readonly workergroup_id: number;
  readonly perf?: number;
  readonly measured_perf?: number;
};

export type EndpointEvent = {
  readonly at: number;
  readonly kind: "decision" | "worker" | "change";
  readonly sentence: string;
  readonly worker_id?: number;
  readonly detail: { readonly reason?: string };
};

type Variables = Readonly<Record<string, string | number>>;

/** An endpoint group of a renter, with its worker groups. */
export type Endpoint = {
  readonly id: number;
  readonly options: EndpointOptions;
  /** Another worker group; `variables` are the switches of the program. Returns its id. */
  addGroup(variables?: Variables, ...words: readonly string[]): Promise<number>;
  /** Gives the group another recipe: the same program with these switches in place of the earlier ones. */
  changeGroup(groupId: number, variables: Variables): Promise<void>;
  workers(): Promise<readonly WorkerRecord[]>;
  /** Events of the endpoint, oldest first. */
  events(): Promise<readonly EndpointEvent[]>;
  /** The output of `./berth endpoint explain`. */
  explained(): Promise<string>;
  load(): EndpointLoad;
};

/** Makes an endpoint as a renter does; `words` are options of `./berth endpoint create`. */
export async function makeEndpoint(
  { renter, image, url }: { readonly renter: Renter; readonly image: string; readonly url: string },
  name: string,
  ...words: readonly string[]
): Promise<Endpoint> {
  const made = JSON.parse(await renter.told("endpoint", "create", "--name", name, ...words, "--json"));
  const id: number = made.result;
  const shown = JSON.parse(await renter.told("endpoint", "show", String(id), "--json"));
  const options = { baseUrl: url, endpoint: name, endpointKey: String(shown.api_key) };
  const launchArgs = (variables: Variables) => {
    const all = { TEST_UNITS_PER_SECOND: UNITS_PER_SECOND, ...variables };
    const env = Object.entries(all).map(([key, value]) => `-e ${key}=${value}`);
    return `--image ${image} --disk 8 --env '${env.join(" ")}' --args`;
  };
  return {
    id,
    options,
    async addGroup(variables = {}, ...rest) {
      const recipe = ["--endpoint", String(id), "--search", "num_gpus=1", "--launch-args", launchArgs(variables)];
      return JSON.parse(await renter.told("workergroup", "create", ...recipe, ...rest, "--json")).id;
    },
    async changeGroup(groupId, variables) {
      await renter.told("workergroup", "update", String(groupId), "--launch-args", launchArgs(variables));
    },
    workers: () => renter.done("POST", "/get_endpoint_workers/", { id }),
    async events() {
      const { events } = await renter.done("GET", `/api/v0/endptjobs/${id}/events/?level=3&limit=1000`);
      return events.toReversed();
    },
    explained: () => renter.told("endpoint", "explain", String(id), "--last", "1000"),
    load: () => startEndpointLoad(options, Infinity),
  };
}
