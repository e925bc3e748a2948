import { epochSeconds } from "../../base/clock.ts";
import type { EndpointRecord } from "./schema.ts";
import type { EndpointGroup } from "./store.ts";

/** The contract's record of an endpoint (offer-fields.md §6.1). */
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
