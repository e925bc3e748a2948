import type { Static } from "typebox";
import { nanos, toDollars } from "../../../../base/money.ts";
import { idOfScope, kindOfScope, type Cap } from "../../../money/ledger/index.ts";
import type { Forecast } from "./forecast-service.ts";
import type { ForecastAnswer } from "./create-schema.ts";

const HUNDREDTHS = 100n;
/** The longest duration shown: about a century. */
const HOURS_MAX = 1_000_000;

export function viewForecast(forecast: Forecast): Static<typeof ForecastAnswer> {
  const { gpuNanosPerHour: gpu, diskNanosPerHour: disk, volumeNanosPerHour: volume, obstacle, balance } = forecast;
  return {
    success: true,
    dry_run: true,
    ask_id: forecast.offerId,
    price: {
      gpu_per_hour: toDollars(gpu),
      disk_per_hour: toDollars(disk),
      volume_per_hour: toDollars(volume),
      total_per_hour: toDollars(nanos(gpu + disk + volume)),
      inet_up_per_gb: toDollars(forecast.inetUpNanosPerGb),
      inet_down_per_gb: toDollars(forecast.inetDownNanosPerGb),
    },
    traffic_limit: toDollars(forecast.traffic.limit),
    traffic_limit_source: forecast.traffic.source,
    hold: toDollars(forecast.hold),
    balance: toDollars(balance),
    balance_lasts_hours: {
      now: hoursLasting(balance, forecast.costNow),
      after: hoursLasting(balance, forecast.costAfter),
    },
    caps: forecast.caps.map(viewCap),
    would_start: obstacle === undefined,
    reason: obstacle === undefined ? null : { error: obstacle.code, msg: obstacle.message },
  };
}

function viewCap({ id, scope, period, limit, spent, held }: Cap) {
  const left = limit - spent - held;
  return {
    id,
    scope: kindOfScope(scope),
    scope_id: idOfScope(scope),
    period,
    limit: toDollars(limit),
    left: toDollars(left > 0n ? left : 0n),
  };
}

/** Hours rounded down to hundredths; null when nothing is used up. */
function hoursLasting(balance: bigint, nanosPerHour: bigint): number | null {
  if (nanosPerHour <= 0n) return null;
  if (balance <= 0n) return 0;
  return Math.min(HOURS_MAX, Number((balance * HUNDREDTHS) / nanosPerHour) / Number(HUNDREDTHS));
}
