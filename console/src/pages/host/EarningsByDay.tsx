import { useQuery } from "@tanstack/react-query";
import { earningsChart } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { TimeSeries } from "../../charts/TimeSeries.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { money } from "../../text/money.ts";
import { useNow } from "../../ui/use-now.ts";
import { DAY_S } from "./machine.ts";

/** Earnings of each day (UTC) up to today, of one machine or of all. */
export function EarningsByDay({ machine, days }: { readonly machine?: number; readonly days: number }) {
  const today = Math.floor(useNow() / DAY_S);
  const filters = {
    day: { gte: today - days + 1, lte: today },
    ...(machine === undefined ? {} : { machine_id: { eq: machine } }),
  };
  const query = { select_filters: JSON.stringify(filters) };
  const chart = useQuery(ask("balance.earnings-chart", earningsChart, { query }));
  return (
    <Answer query={chart} rows={5}>
      {({ chart: found, total }) => (
        <>
          <p className="dim">
            {money(total.total_earn)} in {days} days.
          </p>
          <TimeSeries
            title="Earned by day"
            times={found.map(({ day }) => day * DAY_S)}
            format={money}
            lines={[
              { label: "All", values: found.map(({ total_earn: all }) => all), isArea: true },
              { label: "Storage", values: found.map(({ sto_earn: storage }) => storage), tone: "violet" },
              {
                label: "Traffic",
                values: found.map(({ bwu_earn: sent, bwd_earn: received }) => sent + received),
                tone: "amber",
              },
            ]}
          />
        </>
      )}
    </Answer>
  );
}
