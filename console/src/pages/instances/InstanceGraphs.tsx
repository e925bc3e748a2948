import { SegmentedControl } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { instanceMeasurements } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { TimeSeries } from "../../charts/TimeSeries.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { bytes } from "../../text/size.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { useNow } from "../../ui/use-now.ts";
import classes from "./instances.module.css";

const SPANS = [
  { value: "1", label: "1 h" },
  { value: "24", label: "1 d" },
  { value: "168", label: "7 d" },
];
const HOUR_S = 3_600;
/** Graphs move on in steps of this many seconds, which is the finest that is measured. */
const STEP_S = 10;

/** Four graphs of what an instance uses: GPU, processor, memory and network. */
export function InstanceGraphs({ id }: { readonly id: number }) {
  const [hours, setHours] = useState("1");
  const now = Math.floor(useNow() / STEP_S) * STEP_S;
  const query = { from: String(now - Number(hours) * HOUR_S), to: String(now) };
  const measured = useQuery({
    ...ask("instance.measurements", instanceMeasurements, { id, query }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <SegmentedControl size="xs" aria-label="Time" data={SPANS} value={hours} onChange={setHours} />
      <Answer query={measured} rows={10}>
        {({ times, series }) =>
          times.length === 0 ? (
            <EmptyState title="Nothing was measured in this time">
              Measurements come every 10 s while the instance runs.
            </EmptyState>
          ) : (
            <div className={classes["graphs"]}>
              <TimeSeries
                title="GPU"
                times={times}
                max={100}
                format={percent}
                lines={[{ label: "GPU", values: series.gpu_util, isArea: true }]}
              />
              <TimeSeries
                title="Processor"
                times={times}
                max={100}
                format={percent}
                lines={[{ label: "Processor", values: series.cpu_util.map(toPercent), tone: "blue", isArea: true }]}
              />
              <TimeSeries
                title="Memory"
                times={times}
                format={bytes}
                lines={[
                  { label: "Memory", values: series.memory_bytes },
                  { label: "GPU memory", values: series.gpu_memory_bytes, tone: "violet" },
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
          )
        }
      </Answer>
    </>
  );
}

/** A share of the rented cores as the graph of the GPU has it. */
function toPercent(part: number | null): number | null {
  return part === null ? null : part * 100;
}

function percent(value: number): string {
  return `${Math.round(value)} %`;
}
