import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";

/** Common options of `rent`, `launch` and `queue add`. */
export type WhatToRun = {
  readonly image?: string;
  readonly template?: string;
  readonly env?: string;
  readonly args?: string;
  readonly disk?: number;
  readonly price?: number;
  readonly maxPrice?: number;
  readonly trafficLimit?: number;
  readonly label?: string;
  readonly onstart?: string;
  readonly runtype?: string;
  readonly stopped?: boolean;
  readonly cancelUnavailable?: boolean;
};

/** The given options under the names of the API. A price makes the rental interruptible and is its bid. */
export function fieldsToRun(options: WhatToRun) {
  const { image, template, env, args, disk, price, maxPrice, label, onstart, runtype, stopped } = options;
  if (image === undefined && template === undefined) {
    throw new UserError("No image or template is given.", "Give --image or --template.", 2);
  }
  return given({
    image,
    template_hash_id: template,
    env,
    args,
    disk,
    price,
    max_dph: maxPrice,
    traffic_limit: options.trafficLimit,
    label,
    onstart,
    runtype,
    target_state: stopped === true ? ("stopped" as const) : undefined,
    cancel_unavail: options.cancelUnavailable,
  });
}
