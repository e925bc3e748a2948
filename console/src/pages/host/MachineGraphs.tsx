import { SegmentedControl } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { machineMeasurements, type MachineMeasurementsAnswer } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { TimeSeries } from "../../charts/TimeSeries.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { bytes } from "../../text/size.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { useNow } from "../../ui/use-now.ts";
import classes from "./host.module.css";

const SPANS = [
  { value: "1", label: "1 h" },
  { value: "24", label: "1 d" },
  { value: "168", label: "7 d" },
];
const HOUR_S = 3_600;
/** Graphs move on in steps of this many seconds, which is the finest that is measured. */
const STEP_S = 10;
const TONES = ["accent", "blue", "amber", "violet", "red", "dim"] as const;

/** Graphs of a machine: its GPUs, heat and power, processor, memory and network. */
export function MachineGraphs({ id }: { readonly id: number }) {
  const [hours, setHours] = useState("1");
  const now = Math.floor(useNow() / STEP_S) * STEP_S;
  const query = { from: String(now - Number(hours) * HOUR_S), to: String(now) };
  const measured = useQuery({
    ...ask("machine.measurements", machineMeasurements, { id, query }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <SegmentedControl size="xs" aria-label="Time" data={SPANS} value={hours} onChange={setHours} />
      <Answer query={measured} rows={10}>
        {(answer) =>
          isEmpty(answer) ? (
            <EmptyState title="Nothing was measured in this time">
              Measurements come every 10 s while the machine is connected.
            </EmptyState>
          ) : (
            <Graphs measured={answer} />
          )
        }
      </Answer>
    </>
  );
}

function Graphs({ measured: { times, series, gpus } }: { readonly measured: MachineMeasurementsAnswer }) {
  return (
    <div className={classes["graphs"]}>
      {gpus.length > 0 && (
        <TimeSeries
          title="GPU use"
          times={times}
          max={100}
          format={percent}
          lines={gpus.map(({ index, gpu_util: values }) => ({ ...lineOf(index), values }))}
        />
      )}
      {gpus.length > 0 && (
        <TimeSeries
          title="GPU temperature"
          times={times}
          format={(value) => `${Math.round(value)} °C`}
          lines={gpus.map(({ index, gpu_temperature: values }) => ({ ...lineOf(index), values }))}
        />
      )}
      {gpus.length > 0 && (
        <TimeSeries
          title="GPU power"
          times={times}
          format={(value) => `${Math.round(value)} W`}
          lines={gpus.map(({ index, gpu_power_watts: values }) => ({ ...lineOf(index), values }))}
        />
      )}
      <TimeSeries
        title="Processor"
        times={times}
        max={100}
        format={percent}
        lines={[{ label: "Processor", values: series.cpu_util, tone: "blue", isArea: true }]}
      />
      <TimeSeries
        title="Memory and disk"
        times={times}
        format={bytes}
        lines={[
          { label: "Memory", values: series.memory_bytes },
          { label: "Disk", values: series.disk_bytes, tone: "violet" },
        ]}
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
    </div>
  );
}

/** True when no point of time has a value. */
function isEmpty({ series }: MachineMeasurementsAnswer): boolean {
  return Object.values(series).every((values) => values.every((value) => value === null));
}

function lineOf(index: number) {
  return { label: `GPU ${index}`, tone: TONES[index % TONES.length] ?? "accent" };
}

function percent(value: number): string {
  return `${Math.round(value)} %`;
}
