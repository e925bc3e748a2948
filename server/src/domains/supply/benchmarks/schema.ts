import { Type, type TSchema } from "typebox";
import { model } from "../../../http/model.ts";

const Nullable = <T extends TSchema>(schema: T, description: string, example: unknown) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description, examples: [example] }));
const Maybe = Type.Optional;

export const BenchmarksQuery = Type.Object(
  {
    select_filters: Maybe(Type.String({ maxLength: 65_536 })),
    query: Maybe(Type.String({ maxLength: 8192 })),
    select_cols: Maybe(Type.String({ maxLength: 8192 })),
    order_by: Maybe(Type.String({ maxLength: 4096 })),
    limit: Maybe(Type.Integer({ minimum: 1 })),
    after_token: Maybe(Type.String({ maxLength: 32_768 })),
  },
  { additionalProperties: true },
);

/** A search that names columns leaves the others out. */
const Benchmark = model("Benchmark", {
  id: Maybe(Type.Integer({ description: "Id of the benchmark", examples: [31] })),
  contract_id: Nullable(
    Type.Integer(),
    "Id of the worker's instance; null for a measurement of the machine itself",
    77,
  ),
  machine_id: Maybe(Type.Integer({ description: "Id of the machine", examples: [12] })),
  gpu_name: Nullable(Type.String(), "Model of the GPUs, with blanks; null for a machine without GPUs", "RTX 4090"),
  num_gpus: Maybe(
    Type.Integer({ description: "GPUs that were measured; 0 for a machine without GPUs", examples: [2] }),
  ),
  image: Nullable(Type.String(), "Image of the worker; shown to its renter only", "vllm/vllm-openai"),
  launch_args: Nullable(Type.String(), "Always null: arguments may hold secrets, so they are not kept", null),
  template_id: Nullable(
    Type.Integer(),
    "Id of the worker's template; null without one, and for a private template of somebody else",
    9,
  ),
  template_hash: Nullable(
    Type.String(),
    "Hash of the worker's template as it was rented; null without one, and for a private template of somebody else",
    "4e17788f74f075dd9aab7d0d4427968f",
  ),
  type: Maybe(
    Type.Union(
      [
        Type.Literal("perf"),
        Type.Literal("upload"),
        Type.Literal("download"),
        Type.Literal("cpu"),
        Type.Literal("disk"),
      ],
      {
        description:
          "Kind of measurement: `perf`, units that a worker serves a second; `upload` and `download`, Mbit/s from and to the machine; `cpu`, rounds of a puzzle (scrypt, N 32768, r 8) that one core solves in a second; `disk`, MB/s",
        examples: ["perf"],
      },
    ),
  ),
  value: Maybe(Type.Number({ description: "The last measured figure, in the unit of its `type`", examples: [250] })),
  measured_by: Maybe(
    Type.Union([Type.Literal("server"), Type.Literal("worker"), Type.Literal("agent")], {
      description:
        "Whose figure it is: `server`, this service measured; `worker`, a renter's worker says so; `agent`, the host's own program says so and nobody verified it",
      examples: ["worker"],
    }),
  ),
  dph_base: Nullable(
    Type.Number(),
    "Price of the worker's GPUs then, in dollars an hour; null for a measurement of the machine itself",
    0.6,
  ),
  last_update: Maybe(
    Type.Number({ description: "Time of the measurement, in seconds since the epoch", examples: [1_767_225_600] }),
  ),
});

export const BenchmarksAnswer = Type.Object({
  success: Type.Literal(true),
  benchmarks_found: Type.Integer({ description: "Number of benchmarks in this answer", examples: [1] }),
  next_token: Type.Union([Type.String(), Type.Null()], {
    description: "Value of `after_token` for the next page; null on the last page",
  }),
  benchmarks: Type.Array(Benchmark, { description: "One page of the benchmarks" }),
});
