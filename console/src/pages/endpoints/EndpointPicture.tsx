import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { EndpointHistoryResponse } from "../../../../sdk/src/index.ts";
import { TimeSeries } from "../../charts/TimeSeries.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { hourly } from "../../text/money.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { useNow } from "../../ui/use-now.ts";
import { figure, historyQuery, secondsText, unitsText } from "./endpoint.ts";
import classes from "./endpoints.module.css";

const HOUR_S = 3_600;
const STEPS = 120;

/** Load against capacity with each decision as a mark, workers by state, queue, waits and cost. */
export function EndpointPicture({ id, hours }: { readonly id: number; readonly hours: number }) {
  const spanS = hours * HOUR_S;
  const step = Math.max(1, spanS / STEPS);
  const from = Math.floor(useNow() / step) * step - spanS;
  // The last hour is shared with the line above, and ends by the clock of the server.
  const history = useQuery({
    ...historyQuery(id, hours === 1 ? {} : { from, step }),
    placeholderData: keepPreviousData,
  });
  return (
    <Answer query={history} rows={12}>
      {(answer) => <Picture history={answer} />}
    </Answer>
  );
}

function Picture({ history }: { readonly history: EndpointHistoryResponse }) {
  const { at, load, workers, queued, wait_mean: mean, wait_max: longest, cost_per_hour: cost, decisions } = history;
  const lines = useMemo(() => capacityLines(history), [history]);
  const marks = useMemo(() => decisions.map(({ at: when, sentence }) => ({ at: when, label: sentence })), [decisions]);
  const isQuiet = workers.ready.every((value) => value === null) && load.every((value) => value === 0);
  if (isQuiet) {
    return (
      <EmptyState title="Nothing came and nothing ran in this time">
        Load, capacity, workers and waits stand here as soon as there are workers, or somebody sends a request.
      </EmptyState>
    );
  }
  return (
    <div className={classes["picture"]}>
      <TimeSeries title="Load and capacity" times={at} format={unitsText} height={220} lines={lines} marks={marks} />
      <div className={classes["charts"]}>
        <TimeSeries
          title="Workers"
          times={at}
          format={figure}
          lines={[
            { label: "Ready", values: workers.ready, isArea: true },
            { label: "Starting", values: workers.starting, tone: "blue" },
            { label: "Stopping", values: workers.stopping, tone: "amber" },
            { label: "Stopped", values: workers.stopped, tone: "dim" },
            { label: "Failed", values: workers.failed, tone: "red" },
          ]}
        />
        <TimeSeries
          title="Requests that wait"
          times={at}
          format={figure}
          lines={[{ label: "Longest queue", values: queued, tone: "amber", isArea: true }]}
        />
        <TimeSeries
          title="Waits"
          times={at}
          format={secondsText}
          lines={[
            { label: "Mean", values: mean },
            { label: "Longest", values: longest, tone: "amber" },
          ]}
        />
        <TimeSeries
          title="Cost"
          times={at}
          format={hourly}
          lines={[{ label: "All workers", values: cost, isArea: true }]}
        />
      </div>
    </div>
  );
}

/** Capacity stands in layers: what runs, with what starts above it, with the stopped workers above both. */
function capacityLines({ load, capacity: { ready, starting, stopped } }: EndpointHistoryResponse) {
  const above = (lower: readonly (number | null)[], upper: readonly (number | null)[]) =>
    lower.map((value, index) => (value === null ? null : value + (upper[index] ?? 0)));
  const withStarting = above(ready, starting);
  return [
    { label: "Load", values: load, isArea: true },
    { label: "Running", values: ready, tone: "blue" as const },
    { label: "With those that start", values: withStarting, tone: "amber" as const, isDashed: true },
    { label: "With stopped ones", values: above(withStarting, stopped), tone: "dim" as const, isDashed: true },
  ];
}
