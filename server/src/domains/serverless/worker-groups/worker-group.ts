import { invalid } from "../../../base/errors.ts";
import type { ApiKeyId, EndpointGroupId, TemplateId, UserId, WorkerGroupId } from "../../../base/ids.ts";
import { readQuery } from "../../supply/market/for-serverless.ts";
import { readLaunchArgs, type LaunchMembers } from "./launch-args.ts";
import type { WorkerPrice } from "../workers/worker-price.ts";
import { FRACTION, NOT_NEGATIVE, POSITIVE, readCount, readNumber } from "../endpoints/rules/parameters.ts";

/** A search of offers, as the body of `POST /api/v0/bundles/`. */
export type SearchQuery = Readonly<Record<string, unknown>>;

/** Counts of workers, and loads in units of work per second. */
export type WorkerGroupParameters = {
  /** Estimated size of the model, in GB. */
  readonly gpuRamGb: number;
  readonly testWorkers: number;
  readonly coldWorkers: number;
  readonly maxWorkers: number;
  readonly minLoad: number;
  readonly minColdLoad: number;
  readonly targetUtil: number;
  readonly coldMult: number;
};

/** Settings with which each worker of the group is rented and started. */
export type Recipe = {
  readonly templateId: TemplateId | undefined;
  /** Hash of the template; empty without one. */
  readonly templateHash: string;
  /** The search as it was sent, and its parsed form. */
  readonly searchParams: string;
  readonly searchQuery: SearchQuery;
  /** Command-line options, encrypted as renters put variables into them. Empty when there are none. */
  readonly encryptedArgs: string;
  /** Credentials for a private registry, encrypted; empty when there are none. */
  readonly encryptedLogin: string;
};

/** The encrypted parts of a recipe in clear; each is empty when there is none. */
export type OpenedRecipe = { readonly launchArgs: string; readonly login: string };

export type WorkerGroup = WorkerGroupParameters &
  Recipe &
  WorkerPrice & {
    readonly id: WorkerGroupId;
    readonly endpointGroupId: EndpointGroupId;
    readonly endpointName: string;
    /** The endpoint's own key, which opens its route and nothing else. */
    readonly endpointKey: string;
    readonly userId: UserId;
    /** The key that made the group: its cap limits the workers, too. */
    readonly apiKeyId: ApiKeyId;
    readonly generation: number;
    readonly isUpdating: boolean;
    readonly failureCount: number;
    readonly resumesAt: Date | undefined;
    /** The time since which workers are needed and every matching offer costs more than the maximum. */
    readonly waitsForPriceSince: Date | undefined;
    readonly createdAt: Date;
  };

/** The fields of a request as they were sent. */
export type WorkerGroupRequest = {
  readonly search_params?: string | readonly string[] | object;
  readonly launch_args?: string;
  readonly gpu_ram?: number;
  readonly test_workers?: number;
  readonly cold_workers?: number;
  readonly max_workers?: number;
  readonly min_load?: number;
  readonly min_cold_load?: number;
  readonly target_util?: number;
  readonly cold_mult?: number;
};

/** Published defaults of a worker group. */
export const DEFAULT_WORKER_GROUP = {
  gpuRamGb: 24,
  testWorkers: 3,
  coldWorkers: 3,
  maxWorkers: 20,
  minLoad: 1,
  minColdLoad: 0,
  targetUtil: 0.9,
  coldMult: 3,
} as const satisfies WorkerGroupParameters;

const SEARCH_LENGTH_MAX = 8192;

/**
 * The current parameters with the sent ones in their place; throws `invalid` naming the field that is out of range.
 * Cold workers that are sent must fit into the cap, as published; those of before may exceed a new cap, which wins.
 */
export function changeWorkerGroup(current: WorkerGroupParameters, request: WorkerGroupRequest): WorkerGroupParameters {
  const changed = {
    gpuRamGb: readNumber("gpu_ram", request.gpu_ram, NOT_NEGATIVE) ?? current.gpuRamGb,
    testWorkers: readCount("test_workers", request.test_workers, 0) ?? current.testWorkers,
    coldWorkers: readCount("cold_workers", request.cold_workers, 0) ?? current.coldWorkers,
    maxWorkers: readCount("max_workers", request.max_workers, 0) ?? current.maxWorkers,
    minLoad: readNumber("min_load", request.min_load, NOT_NEGATIVE) ?? current.minLoad,
    minColdLoad: readNumber("min_cold_load", request.min_cold_load, NOT_NEGATIVE) ?? current.minColdLoad,
    targetUtil: readNumber("target_util", request.target_util, FRACTION) ?? current.targetUtil,
    coldMult: readNumber("cold_mult", request.cold_mult, POSITIVE) ?? current.coldMult,
  };
  if (request.cold_workers !== undefined && changed.coldWorkers > changed.maxWorkers) {
    const { coldWorkers, maxWorkers } = changed;
    const why = `${coldWorkers} cold workers are more than max_workers, which is ${maxWorkers}`;
    throw invalid("cold_workers", `cold_workers: ${why}`);
  }
  return changed;
}

/** Reads a search in the form of a text, a list of such texts, or an object; undefined when it is absent. */
export function readSearchParams(
  sent: WorkerGroupRequest["search_params"],
): Pick<Recipe, "searchParams" | "searchQuery"> | undefined {
  if (sent === undefined) return undefined;
  const given = Array.isArray(sent) ? sent.join(" ") : sent;
  const searchParams = typeof given === "string" ? given : JSON.stringify(given);
  if (searchParams.length > SEARCH_LENGTH_MAX) {
    throw invalid("search_params", `search_params must have at most ${SEARCH_LENGTH_MAX} characters`);
  }
  return { searchParams, searchQuery: readQuery(given, "search_params") };
}

/** The search for offers to rent workers from: the group's conditions, completed by those of its template. */
export function searchQueryOf(
  { group, launchArgs }: { readonly group: Pick<WorkerGroup, "searchQuery">; readonly launchArgs: string },
  templateFilters: SearchQuery,
): SearchQuery {
  const isBid = readLaunchArgs(launchArgs)["price"] !== undefined;
  return {
    ...templateFilters,
    ...group.searchQuery,
    rentable: { eq: true },
    type: isBid ? "bid" : "ondemand",
    disable_bundling: true,
  };
}

/** The group's recipe as the body of a creation, with its decrypted parts. */
export function launchBodyOf(group: Pick<Recipe, "templateHash">, { launchArgs, login }: OpenedRecipe): LaunchMembers {
  return {
    ...(group.templateHash === "" ? {} : { template_hash_id: group.templateHash }),
    ...(login === "" ? {} : { image_login: login }),
    ...readLaunchArgs(launchArgs),
  };
}

/** True if workers of one recipe would have to be recreated for the other. Searches only choose machines. */
export function isOtherRecipe(one: Recipe, other: Recipe): boolean {
  return (
    one.templateHash !== other.templateHash ||
    one.encryptedArgs !== other.encryptedArgs ||
    one.encryptedLogin !== other.encryptedLogin
  );
}
