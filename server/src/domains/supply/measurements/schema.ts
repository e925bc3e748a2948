import { Type } from "typebox";
import { model } from "../../../http/model.ts";

const Values = Type.Array(Type.Union([Type.Number(), Type.Null()]));

const GpuFields = {
  gpu_util: Values,
  gpu_memory_bytes: Values,
  gpu_temperature: Values,
  gpu_power_watts: Values,
};

const Series = model("MeasuredSeries", {
  ...GpuFields,
  cpu_util: Values,
  memory_bytes: Values,
  disk_bytes: Values,
  net_in_bytes_per_second: Values,
  net_out_bytes_per_second: Values,
});

const Gpu = model("MeasuredGpu", { index: Type.Integer(), ...GpuFields });

const Steps = {
  success: Type.Literal(true),
  resolution_seconds: Type.Integer(),
  from: Type.Integer({ description: "Beginning of the first step, in seconds since 1970" }),
  to: Type.Integer({ description: "End of the last step, in seconds since 1970" }),
  times: Type.Array(Type.Integer()),
};

export const History = Type.Object({ ...Steps, series: Series, maxima: Series, gpus: Type.Array(Gpu) });

export const Sparks = Type.Object({
  ...Steps,
  instances: Type.Array(
    model("InstanceSpark", {
      id: Type.Integer(),
      gpu_util: Values,
      gpu_memory_bytes: Values,
      cpu_util: Values,
      memory_bytes: Values,
    }),
    { description: "Instances with the means of each step, the newest first" },
  ),
});

const Moment = Type.Optional(Type.String({ maxLength: 64 }));
export const HistoryQuery = Type.Object(
  { from: Moment, to: Moment, resolution: Type.Optional(Type.String({ maxLength: 16 })) },
  { additionalProperties: true },
);
export const SparksQuery = Type.Object(
  { ids: Type.Optional(Type.String({ maxLength: 4096 })) },
  { additionalProperties: true },
);
export const IdParams = Type.Object({ id: Type.Integer({ minimum: 1 }) });
