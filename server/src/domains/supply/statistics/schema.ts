import { Type } from "typebox";
import { model } from "../../../http/model.ts";
import { BUCKETS } from "./rules/sample.ts";

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string, example: number) =>
  Type.Union([schema, Type.Null()], { description, examples: [example] });
const Dollars = Nullable(Type.Number());
const PerDollar = Nullable(Type.Number());

const Scope = {
  verified: Type.Optional(Type.Union([Type.Literal("yes"), Type.Literal("no"), Type.Literal("all")])),
  hosting_type: Type.Optional(
    Type.Union([Type.Literal("all"), Type.Literal("secure_cloud"), Type.Literal("community")]),
  ),
  num_gpus: Type.Optional(
    Type.Union(
      BUCKETS.map((bucket) => Type.Literal(bucket)),
      { description: "Machines with this number of GPUs; `other` for sizes that are not listed" },
    ),
  ),
};

export const CurrentQuery = Type.Object(Scope, { additionalProperties: true });
const Text = Type.Optional(Type.String({ maxLength: 64 }));
export const HistoryQuery = Type.Object(
  {
    ...Scope,
    gpu_name: Type.Optional(Type.String({ maxLength: 4096 })),
    start: Text,
    end: Text,
    step: Text,
  },
  { additionalProperties: true },
);

/** The answer for a host that has no machine yet. */
const needsMachine = {
  success: Type.Literal(true),
  needs_machine: Type.Optional(
    Type.Boolean({ description: "True when the caller is a host without machines, and sees nothing" }),
  ),
};

const GpuCounts = {
  total_gpus: Type.Integer(),
  available_gpus: Type.Integer(),
  rented_verified_gpus: Type.Integer(),
  avail_verified_gpus: Type.Integer(),
  rented_unverified_gpus: Type.Integer(),
  avail_unverified_gpus: Type.Integer(),
};

const GpuNow = model("GpuSupply", {
  gpu_name: Type.String(),
  total: Type.Integer({ description: "GPUs that are rented or available" }),
  available: Type.Integer(),
  rented_verified: Type.Integer(),
  avail_verified: Type.Integer(),
  rented_unverified: Type.Integer(),
  avail_unverified: Type.Integer(),
  unavailable: Type.Integer(),
  ...GpuCounts,
  bucket_size: Type.Integer(),
  usage: Type.Number({ description: "Percent of the GPUs that is rented now" }),
  usage_30d: Type.Number(),
  dlperf: Type.Number(),
  tflops: Type.Number(),
  price_p10: Dollars,
  price_p25: Dollars,
  price_median: Dollars,
  price_p75: Dollars,
  price_p90: Dollars,
  tflops_per_dollar: PerDollar,
  dlperf_per_dollar: PerDollar,
});

export const Current = Type.Object({ ...needsMachine, gpus: Type.Optional(Type.Array(GpuNow)) });

const Times = Type.Array(Type.Number());
const Counts = Type.Array(Type.Integer());
const Prices = Type.Array(Dollars);
const GpuHistory = model("GpuHistory", {
  supply_demand: Type.Object({
    timestamps: Times,
    rented_verified: Counts,
    avail_verified: Counts,
    rented_unverified: Counts,
    avail_unverified: Counts,
    total: Counts,
    available: Counts,
    unavail_verified: Counts,
    unavail_unverified: Counts,
    total_gpus: Counts,
    available_gpus: Counts,
    rented_verified_gpus: Counts,
    avail_verified_gpus: Counts,
    rented_unverified_gpus: Counts,
    avail_unverified_gpus: Counts,
    bucket_size: Type.Integer(),
  }),
  pricing: Type.Object({
    timestamps: Times,
    rented_p10: Prices,
    rented_median: Prices,
    rented_p90: Prices,
    avail_p10: Prices,
    avail_median: Prices,
    avail_p90: Prices,
  }),
  stats: Type.Object({
    tflops: Nullable(Type.Number()),
    dlperf: Nullable(Type.Number()),
    tflops_per_dollar: PerDollar,
    dlperf_per_dollar: PerDollar,
  }),
});

export const History = Type.Object({ ...needsMachine, gpus: Type.Optional(Type.Record(Type.String(), GpuHistory)) });

export const RentersHistoryQuery = Type.Object(
  {
    gpu_name: Type.String({ minLength: 1, maxLength: 256 }),
    num_gpus: Scope.num_gpus,
    verified: Scope.verified,
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 400 })),
  },
  { additionalProperties: true },
);

const RentersPoint = model("MarketHistoryPoint", {
  at: Type.Number({ description: "Start of the hour or day, in seconds since 1970" }),
  lowest_ask: OrNull(Type.Number(), "Lowest price asked for a free GPU, in dollars an hour; null without one", 0.31),
  median_ask: OrNull(Type.Number(), "Median price asked for the free GPUs, in dollars an hour", 0.42),
  offered_gpus: Type.Integer({ description: "GPUs that were rented or free, as a mean of the hour or day" }),
  rented_gpus: OrNull(
    Type.Integer(),
    "GPUs that were rented; null where so few are offered that it would tell of single rentals",
    24,
  ),
  free_gpus: OrNull(Type.Integer(), "GPUs that were free; null where `rented_gpus` is", 16),
});

export const RentersHistory = Type.Object({
  success: Type.Literal(true),
  gpu_name: Type.String(),
  num_gpus: Type.String(),
  step_s: Type.Integer({ description: "3,600 for points of an hour, 86,400 for points of a day" }),
  points: Type.Array(RentersPoint, { description: "Points by time; hours or days without a census have none" }),
});

const Place = model("GpuLocation", {
  latitude: Nullable(Type.Number()),
  longitude: Nullable(Type.Number()),
  city: Type.String(),
  country_code: Type.String(),
  gpu_name: Type.String(),
  rented: Type.Boolean(),
  state: Type.String(),
  verified: Type.Boolean(),
  datacenter: Type.Boolean(),
  num_gpus: Type.Integer(),
});

export const Locations = Type.Object({ ...needsMachine, locations: Type.Optional(Type.Array(Place)) });

const Figures = model("GpuPriceFigures", { available: Type.Integer(), median: Dollars, p10: Dollars, p90: Dollars });

export const GpuPrices = Type.Object({
  success: Type.Literal(true),
  sampled_at: Nullable(Type.Number()),
  gpus: Type.Array(model("GpuPrices", { gpu_name: Type.String(), now: Figures, day_ago: Figures })),
});
