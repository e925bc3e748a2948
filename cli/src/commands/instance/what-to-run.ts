import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";

/** What `rent`, `launch` and `queue add` take in common. */
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

/** The given ones under the names of the API. A price makes the rental interruptible: it is then the bid. */
export function fieldsToRun(options: WhatToRun) {
  const { image, template, env, args, disk, price, maxPrice, label, onstart, runtype, stopped } = options;
  if (image === undefined && template === undefined) {
    throw new UserError("Nothing says what to run.", "Give --image or --template.", 2);
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
