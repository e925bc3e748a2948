import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { instanceMeasurements } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { TimeSeries } from "../../charts/TimeSeries.tsx";
import { MeasuredGraphs, percent, useLastHours } from "../../parts/MeasuredGraphs.tsx";

const route = getRouteApi("/frame/instances/$id/");

/** Four graphs of what an instance uses: GPU, processor, memory and network. */
export function InstanceGraphs({ id }: { readonly id: number }) {
  const { hours = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useLastHours(hours);
  const measured = useQuery({
    ...ask("instance.measurements", instanceMeasurements, { id, query }),
    placeholderData: keepPreviousData,
  });
  return (
    <MeasuredGraphs
      query={measured}
      hours={hours}
      onHours={(next) => void navigate({ search: { hours: next }, replace: true })}
      comesWhile="the instance runs"
      gpus={({ times, series }) => (
        <TimeSeries
          title="GPU"
          times={times}
          max={100}
          format={percent}
          lines={[{ label: "GPU", values: series.gpu_util, isArea: true }]}
        />
      )}
      besideMemory={({ series }) => ({ label: "GPU memory", values: series.gpu_memory_bytes, tone: "violet" })}
    />
  );
}
