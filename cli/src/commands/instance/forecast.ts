import type { InstanceCreateAnswer } from "../../../../sdk/src/operations.ts";
import { dollars, renderFields } from "../../output.ts";
import { spanText } from "../../time-text.ts";

export type Forecast = Extract<InstanceCreateAnswer, { readonly dry_run: true }>;

/** The forecast of a rental: its cost, and the reason why it would not start now. */
export function renderForecast({ price, caps, reason, balance_lasts_hours: lasts, ...forecast }: Forecast): string {
  const capFields = caps.map(({ scope, scope_id: id, period, limit, left }) => {
    const name = scope === "account" ? "cap" : `cap of ${scope} ${id}`;
    return [`${name}, ${period}`, `${dollars(left)} left of ${dollars(limit)}`] as const;
  });
  const fields = renderFields({
    "GPUs per hour": dollars(price.gpu_per_hour),
    "disk per hour": dollars(price.disk_per_hour),
    ...(price.volume_per_hour > 0 ? { "volume per hour": dollars(price.volume_per_hour) } : {}),
    "together per hour": dollars(price.total_per_hour),
    "sent per GB": dollars(price.inet_up_per_gb),
    "received per GB": dollars(price.inet_down_per_gb),
    "set aside": dollars(forecast.hold),
    balance: dollars(forecast.balance),
    "balance lasts": `${lastsText(lasts.now)} now, ${lastsText(lasts.after)} with this`,
    ...Object.fromEntries(capFields),
  });
  return `${fields}\n\n${reason === null ? "It would start now." : `It would not start now. ${reason.msg}`} Nothing was created.`;
}

function lastsText(hours: number | null): string {
  return hours === null ? "for good" : spanText(hours * 3600);
}
