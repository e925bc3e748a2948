import { dollars } from "../../output.ts";

/** The agreed prices of a rental; answers of older servers lack them. */
export type Agreed = {
  readonly dph_total?: number;
  readonly dph_base?: number;
  readonly storage_total_cost?: number;
  readonly inet_up_cost?: number;
  readonly inet_down_cost?: number;
};

/** One sentence with the price per hour, its parts, and the price of traffic; empty when the answer lacks them. */
export function agreedPriceText({
  dph_total: total,
  dph_base: base,
  storage_total_cost: disk,
  ...traffic
}: Agreed): string {
  if (total === undefined) return "";
  const parts = `${dollars(base)} for GPUs and ${dollars(disk)} for the disk`;
  const inet = `${dollars(traffic.inet_up_cost)} per GB sent and ${dollars(traffic.inet_down_cost)} per GB received`;
  return ` It costs ${dollars(total)} an hour: ${parts}; traffic ${inet}.`;
}
