import { SegmentedControl } from "@mantine/core";
import type { ReactNode } from "react";
import type { MeasuredSeries } from "../../../sdk/src/index.ts";
import type { Line } from "../charts/chart.ts";
import { TimeSeries } from "../charts/TimeSeries.tsx";
import { bytes } from "../text/size.ts";
import { EmptyState } from "../ui/EmptyState.tsx";
import { useNow } from "../ui/use-now.ts";
import { Answer } from "./Answer.tsx";
import classes from "./measured-graphs.module.css";

const SPANS = [
  { value: "1", label: "1 h" },
  { value: "24", label: "1 d" },
  { value: "168", label: "7 d" },
];
const HOUR_S = 3_600;
/** Graphs move on in steps of this many seconds, which is the finest that is measured. */
const STEP_S = 10;

type Measured = { readonly times: readonly number[]; readonly series: MeasuredSeries };

/** The last hours as the operations about measurements take them. */
export function useLastHours(hours: number): { readonly from: string; readonly to: string } {
  const now = Math.floor(useNow() / STEP_S) * STEP_S;
  return { from: String(now - hours * HOUR_S), to: String(now) };
}

type Props<M> = {
  readonly query: { readonly data: M | undefined; readonly error: Error | null; readonly refetch: () => unknown };
  readonly hours: number;
  readonly onHours: (hours: number) => void;
  /** Says when measurements come: `the instance runs`. */
  readonly comesWhile: string;
  /** Graphs of GPUs, before the others. */
  readonly gpus: (measured: M) => ReactNode;
  /** A line that the graph of the memory shows as well. */
  readonly besideMemory: (measured: M) => Line;
};

/** Graphs of what a machine or an instance uses: its GPUs, processor, memory and network. */
export function MeasuredGraphs<M extends Measured>({ query, hours, onHours, comesWhile, ...more }: Props<M>) {
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label="Time"
        data={SPANS}
        value={String(hours)}
        onChange={(value) => onHours(Number(value))}
      />
      <Answer query={query} rows={10}>
        {(measured) =>
          isEmpty(measured) ? (
            <div className={classes["none"]}>
              <EmptyState title="Nothing was measured in this time">
                Measurements come every 10 s while {comesWhile}.
              </EmptyState>
            </div>
          ) : (
            <div className={classes["graphs"]}>
              {more.gpus(measured)}
              <Common measured={measured} besideMemory={more.besideMemory(measured)} />
            </div>
          )
        }
      </Answer>
    </>
  );
}

function Common({
  measured: { times, series },
  besideMemory,
}: {
  readonly measured: Measured;
  readonly besideMemory: Line;
}) {
  return (
    <>
      <TimeSeries
        title="Processor"
        times={times}
        max={100}
        format={percent}
        lines={[{ label: "Processor", values: series.cpu_util.map(toPercent), tone: "blue", isArea: true }]}
      />
      <TimeSeries
        title={`Memory and ${besideMemory.label === "Disk" ? "disk" : besideMemory.label}`}
        times={times}
        format={bytes}
        lines={[{ label: "Memory", values: series.memory_bytes }, besideMemory]}
      />
      <TimeSeries
        title="Network"
        times={times}
        format={(value) => `${bytes(value)}/s`}
        lines={[
          { label: "In", values: series.net_in_bytes_per_second },
          { label: "Out", values: series.net_out_bytes_per_second, tone: "amber" },
        ]}
      />
    </>
  );
}

/** True when no point of time has a value. */
function isEmpty({ series }: Measured): boolean {
  return Object.values(series).every((values) => values.every((value) => value === null));
}

/** A share of the cores as the graphs of GPUs have it. */
function toPercent(part: number | null): number | null {
  return part === null ? null : part * 100;
}

export function percent(value: number): string {
  return `${Math.round(value)} %`;
}
