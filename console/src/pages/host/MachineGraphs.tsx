import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { machineMeasurements, type MachineMeasurementsAnswer } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { TimeSeries } from "../../charts/TimeSeries.tsx";
import { MeasuredGraphs, percent, useLastHours } from "../../parts/MeasuredGraphs.tsx";

const route = getRouteApi("/frame/host/machines/$id");
const TONES = ["accent", "blue", "amber", "violet", "red", "dim"] as const;

/** Graphs of a machine: its GPUs, heat and power, processor, memory and network. */
export function MachineGraphs({ id }: { readonly id: number }) {
  const { hours = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useLastHours(hours);
  const measured = useQuery({
    ...ask("machine.measurements", machineMeasurements, { id, query }),
    placeholderData: keepPreviousData,
  });
  return (
    <MeasuredGraphs
      query={measured}
      hours={hours}
      onHours={(next) => void navigate({ search: { hours: next }, replace: true })}
      comesWhile="the machine is connected"
      gpus={(answer) => answer.gpus.length > 0 && <GpuGraphs measured={answer} />}
      besideMemory={({ series }) => ({ label: "Disk", values: series.disk_bytes, tone: "violet" })}
    />
  );
}

function GpuGraphs({ measured: { times, gpus } }: { readonly measured: MachineMeasurementsAnswer }) {
  return (
    <>
      <TimeSeries
        title="GPU use"
        times={times}
        max={100}
        format={percent}
        lines={gpus.map(({ index, gpu_util: values }) => ({ ...lineOf(index), values }))}
      />
      <TimeSeries
        title="GPU temperature"
        times={times}
        format={celsius}
        lines={gpus.map(({ index, gpu_temperature: values }) => ({ ...lineOf(index), values }))}
      />
      <TimeSeries
        title="GPU power"
        times={times}
        format={watts}
        lines={gpus.map(({ index, gpu_power_watts: values }) => ({ ...lineOf(index), values }))}
      />
    </>
  );
}

function lineOf(index: number) {
  return { label: `GPU ${index}`, tone: TONES[index % TONES.length] ?? "accent" };
}

const celsius = (value: number) => `${Math.round(value)} °C`;
const watts = (value: number) => `${Math.round(value)} W`;
