import { epochSeconds } from "../../../base/clock.ts";
import { toDollars } from "../../../base/money.ts";
import type { EndpointRecord } from "./schema.ts";
import type { EndpointGroup } from "./store.ts";
import type { WorkerGroup } from "../worker-groups/worker-group.ts";
import type { WorkerGroupRecord } from "../worker-groups/schema.ts";

/** The API's record of an endpoint. */
export function endpointRecord(group: EndpointGroup): EndpointRecord {
  return {
    id: group.id,
    user_id: group.userId,
    endpoint_name: group.name,
    api_key: group.apiKey,
    created_at: epochSeconds(group.createdAt),
    endpoint_state: group.state,
    min_load: group.minLoad,
    min_cold_load: group.minColdLoad,
    target_util: group.targetUtil,
    cold_mult: group.coldMult,
    cold_workers: group.coldWorkers,
    max_workers: group.maxWorkers,
    max_queue_time: group.maxQueueTimeS ?? null,
    target_queue_time: group.targetQueueTimeS ?? null,
    inactivity_timeout: group.inactivityTimeoutS ?? null,
    auto_delete_in_seconds: null,
    auto_delete_due_24h: false,
  };
}

/**
 * The API's record of a worker group. Fields without a value are left out: published clients fail on null. So is the
 * endpoint's key for callers that may not read it from the endpoint.
 */
export function workerGroupRecord(
  group: WorkerGroup,
  { launchArgs, mayReadKey }: { readonly launchArgs: string; readonly mayReadKey: boolean },
): WorkerGroupRecord {
  return {
    id: group.id,
    endpoint_id: group.endpointGroupId,
    endpoint_name: group.endpointName,
    user_id: group.userId,
    ...(mayReadKey ? { api_key: group.endpointKey } : {}),
    ...(group.templateId === undefined ? {} : { template_id: group.templateId }),
    template_hash: group.templateHash,
    search_params: group.searchParams,
    search_query: group.searchQuery,
    launch_args: launchArgs,
    gpu_ram: group.gpuRamGb,
    test_workers: group.testWorkers,
    cold_workers: group.coldWorkers,
    max_workers: group.maxWorkers,
    ...(group.maxNanosPerHour === undefined ? {} : { max_dph: toDollars(group.maxNanosPerHour) }),
    is_max_dph_by_owner: group.isMaxByOwner,
    ...(group.waitsForPriceSince === undefined
      ? {}
      : { waits_for_price_since: epochSeconds(group.waitsForPriceSince) }),
    min_load: group.minLoad,
    min_cold_load: group.minColdLoad,
    target_util: group.targetUtil,
    cold_mult: group.coldMult,
    generation: group.generation,
    is_updating: group.isUpdating,
    failure_count: group.failureCount,
    ...(group.resumesAt === undefined ? {} : { resumes_at: epochSeconds(group.resumesAt) }),
    created_at: epochSeconds(group.createdAt),
  };
}
