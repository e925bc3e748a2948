import type { RentalForecast } from "../../../sdk/src/index.ts";
import { hourly, money } from "../text/money.ts";
import { lasting } from "../text/time.ts";
import classes from "./rent.module.css";

type Props = { readonly forecast: RentalForecast | undefined; readonly isAsking: boolean };

const HOURS_A_DAY = 24;

/** Costs of a rental, and how long the credit lasts, as the dry run of the server says it. */
export function RentCost({ forecast, isAsking }: Props) {
  if (forecast === undefined) {
    return (
      <aside className={classes["cost"]} aria-label="Cost">
        <p className={classes["line"]}>Choose a template or an image, and the cost stands here.</p>
      </aside>
    );
  }
  const { traffic_limit: traffic, traffic_limit_source: source } = forecast;
  const { price, balance, balance_lasts_hours: lasts, caps, hold } = forecast;
  const stopped = price.disk_per_hour + price.volume_per_hour;
  const rows: readonly (readonly [string, string])[] = [
    ["Running", hourly(price.total_per_hour)],
    ["A day", money(price.total_per_hour * HOURS_A_DAY)],
    ["Stopped", hourly(stopped)],
    ["Stopped, a day", money(stopped * HOURS_A_DAY)],
    ...(price.volume_per_hour > 0 ? [["Of it the volume", hourly(price.volume_per_hour)] as const] : []),
    ["GB in", money(price.inet_down_per_gb)],
    ["GB out", money(price.inet_up_per_gb)],
    ["Traffic, at most", `${money(traffic)}${source === "budget" ? ", and more with time" : ", then it stops"}`],
    ["Set aside now", money(hold)],
    ["Your credit", money(balance)],
    ["It lasts", lasts.after === null ? "–" : lasting(lasts.after)],
    ...(caps.length === 0 ? [["Cap", "none"] as const] : []),
    ...caps.map(({ scope, period, left }) => [limitName(scope, period), money(left)] as const),
  ];
  return (
    <aside className={classes["cost"]} aria-label="Cost" aria-busy={isAsking}>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </aside>
  );
}

/** `Limit a day`; the limit of something smaller than the account names it. */
function limitName(scope: string, period: string): string {
  const time = period === "total" ? "Limit" : `Limit a ${period}`;
  return scope === "account" ? `${time}, left` : `${time} (${scope}), left`;
}
