import { Type } from "typebox";
import { model } from "../../../../http/model.ts";

export const CountAnswer = Type.Object({
  count: Type.Integer({ description: "Number of the caller's instances", examples: [3] }),
});

export const CountsAnswer = Type.Object({
  data: model(
    "OwnCounts",
    {
      total_instances: Type.Integer({ description: "Number of the caller's instances", examples: [3] }),
      total_volumes: Type.Integer({ description: "Number of the caller's volumes, local and network", examples: [1] }),
    },
    { description: "The counts" },
  ),
});

const dollarsPerHour = (description: string, example: number) => Type.Number({ description, examples: [example] });

export const SpendRateAnswer = Type.Object({
  success: Type.Literal(true),
  gpu_cost_per_hour: dollarsPerHour("Cost of running instances without their storage, in dollars an hour", 0.35),
  container_storage_cost_per_hour: dollarsPerHour(
    "Cost of the disks of all instances, stopped ones included, in dollars an hour",
    0.0075,
  ),
  volume_storage_cost_per_hour: dollarsPerHour("Cost of all volumes, in dollars an hour", 0.002),
  has_active_resources: Type.Boolean({
    description: "True while the caller has instances or volumes, also if they cost nothing now",
    examples: [true],
  }),
});
