import { useQuery } from "@tanstack/react-query";
import { marketHistory } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { money } from "../../text/money.ts";
import { count } from "../../text/size.ts";
import { utcDay } from "../../text/time.ts";
import { HostileText } from "../../ui/HostileText.tsx";
import classes from "./market.module.css";

const DAYS = 30;

/** Prices and supply of a GPU over a month, as a table of days. */
export function PriceHistory({ gpuName }: { readonly gpuName: string }) {
  const history = useQuery(ask("offer.history", marketHistory, { query: { gpu_name: gpuName, days: DAYS } })).data;
  if (history === undefined) return undefined;
  const points = history.points.filter(({ median_ask: median }) => median !== null);
  const title = (
    <h3>
      <HostileText text={gpuName} /> on this market
    </h3>
  );
  if (points.length === 0) {
    return (
      <section className={classes["history"]}>
        {title}
        <p className="dim">Prices are counted from now on; the first ones stand here within the hour.</p>
      </section>
    );
  }
  return (
    <section className={classes["history"]}>
      {title}
      <table className={classes["days"]}>
        <caption className="visually-hidden">Dollars per GPU and hour, and GPUs offered</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Lowest</th>
            <th scope="col">Median</th>
            <th scope="col">Offered</th>
          </tr>
        </thead>
        <tbody>
          {points.slice(-7).map((point) => (
            <tr key={point.at}>
              <th scope="row">{utcDay(point.at)}</th>
              <td>{point.lowest_ask === null ? "–" : money(point.lowest_ask)}</td>
              <td>{point.median_ask === null ? "–" : money(point.median_ask)}</td>
              <td>{count(point.offered_gpus, "GPU")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
