import { given } from "../../given.ts";

export type ParameterOptions = {
  readonly name?: string;
  readonly minLoad?: number;
  readonly minColdLoad?: number;
  readonly targetUtil?: number;
  readonly coldMult?: number;
  readonly coldWorkers?: number;
  readonly maxWorkers?: number;
  readonly maxQueueTime?: number;
  readonly targetQueueTime?: number;
  readonly inactivityTimeout?: number;
};

/** The body of a creation or change. Parameters that are not given have the server's defaults, or stay. */
export function parametersOf(options: ParameterOptions) {
  return given({
    endpoint_name: options.name,
    min_load: options.minLoad,
    min_cold_load: options.minColdLoad,
    target_util: options.targetUtil,
    cold_mult: options.coldMult,
    cold_workers: options.coldWorkers,
    max_workers: options.maxWorkers,
    max_queue_time: options.maxQueueTime,
    target_queue_time: options.targetQueueTime,
    inactivity_timeout: options.inactivityTimeout,
  });
}
