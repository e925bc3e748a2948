import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

const Price = model("PriceBreakdown", {
  gpuCostPerHour: Type.Number(),
  diskHour: Type.Number(),
  totalHour: Type.Number(),
  discountTotalHour: Type.Number(),
  discountedTotalPerHour: Type.Number(),
});

const Nothing = Type.Null();
const MaybeNumber = Type.Union([Type.Number(), Nothing]);
const MaybeInteger = Type.Union([Type.Integer(), Nothing]);

/** The API's record of an offer, in dollars, MB, GB and Mb/s. */
const Offer = model("Offer", {
  id: Type.Integer(),
  ask_contract_id: Type.Integer(),
  bundle_id: Type.Integer(),
  bundled_results: Type.Union([Type.Integer(), Nothing]),
  rn: Type.Integer(),
  machine_id: Type.Integer(),
  host_id: Type.Integer(),
  hostname: Type.Union([Type.String(), Nothing]),
  is_simulated: Type.Boolean({ description: "True for a simulated machine: no real container runs on it" }),
  gpu_is_declared: Type.Boolean({
    description: "True when the GPUs were declared for development and no such device exists",
  }),
  public_ipaddr: Type.String(),
  cluster_id: Nothing,
  resource_type: Type.String(),
  rentable: Type.Boolean(),
  rented: Type.Boolean(),
  is_bid: Type.Boolean(),
  external: Type.Boolean(),
  verification: Type.String({ description: "`verified` or `unverified`" }),
  verified: Type.Boolean(),
  vericode: Type.Integer(),
  is_vm_deverified: Type.Boolean(),
  hosting_type: Type.Integer(),
  logo: Nothing,
  webpage: Nothing,
  error_description: Nothing,
  gpu_name: Type.String(),
  num_gpus: Type.Integer(),
  gpu_frac: Type.Number(),
  gpu_ram: Type.Integer(),
  gpu_total_ram: Type.Integer(),
  gpu_arch: Type.String(),
  gpu_ids: Type.Array(Type.Integer()),
  gpu_lanes: Type.Integer(),
  gpu_mem_bw: Type.Number(),
  gpu_max_power: Type.Number(),
  gpu_max_temp: Type.Number(),
  gpu_display_active: Type.Boolean(),
  compute_cap: Type.Integer(),
  cuda_max_good: Type.Number(),
  driver_version: Type.String(),
  driver_vers: Type.Integer(),
  bw_nvlink: Type.Number(),
  dlperf: Type.Number(),
  total_flops: Type.Number(),
  vram_costperhour: Type.Number(),
  cpu_cores: Type.Integer(),
  cpu_cores_effective: Type.Number(),
  cpu_ram: Type.Integer(),
  cpu_ghz: Type.Number(),
  cpu_name: Type.String(),
  cpu_arch: Type.String(),
  has_avx: Type.Integer(),
  mobo_name: Type.String(),
  pci_gen: Type.Number(),
  pcie_bw: Type.Number(),
  os_version: Type.String(),
  vms_enabled: Type.Boolean(),
  disk_space: Type.Number(),
  disk_bw: Type.Number(),
  disk_name: Type.String(),
  inet_up: Type.Number(),
  inet_down: Type.Number(),
  inet_up_cost: Type.Number(),
  inet_down_cost: Type.Number(),
  internet_up_cost_per_tb: Type.Number(),
  internet_down_cost_per_tb: Type.Number(),
  direct_port_count: Type.Integer(),
  static_ip: Type.Boolean(),
  private_registries: Type.Boolean({
    description: "True when the host allows images of registries in its own network",
  }),
  geolocation: Type.String(),
  geolocode: Type.Integer(),
  avail_vol_ask_id: MaybeInteger,
  avail_vol_size: MaybeNumber,
  avail_vol_dph: MaybeNumber,
  nw_disk_min_bw: MaybeNumber,
  nw_disk_max_bw: MaybeNumber,
  nw_disk_avg_bw: MaybeNumber,
  dph_base: Type.Number(),
  dph_total: Type.Number(),
  dph_total_adj: Type.Number(),
  min_bid: Type.Number(),
  discount_rate: Type.Number(),
  discounted_hourly: Type.Number(),
  discounted_dph_total: Type.Number(),
  storage_cost: Type.Number(),
  storage_total_cost: Type.Number(),
  dlperf_per_dphtotal: Type.Number(),
  flops_per_dphtotal: Type.Number(),
  search: Price,
  instance: Price,
  credit_discount_max: Type.Number(),
  platform_fee: Type.Number(),
  reliability: Type.Number(),
  reliability2: Type.Number(),
  expected_reliability: Type.Number(),
  reliability_mult: Type.Number(),
  score: Type.Number(),
  start_date: Type.Number(),
  end_date: Type.Number(),
  duration: Type.Number(),
  time_remaining: Type.String(),
  time_remaining_isbid: Type.String(),
});

export type OfferRecord = Static<typeof Offer>;

const Matching = Type.Integer({
  description:
    "Offers that match, without regard to the limit and to bundles; with a limit of 0 it is the whole answer",
  examples: [318],
});

export const OffersBody = model("Offers", { offers: Type.Array(Offer), matching: Matching });

/** Offers with the chosen members only. */
export const ChosenOffersBody = Type.Object({
  offers: Type.Array(Type.Object({}, { additionalProperties: true })),
  matching: Matching,
});

export const GpuType = model("GpuType", { canonical_name: Type.String(), gpu_ram_mb: Type.Integer() });
export const GpuTypesBody = Type.Object({ gpu_types: Type.Array(GpuType) });
export const GpuTypeParams = Type.Object({ id: Type.String({ maxLength: 200 }) });

/** A bundle's id is a number that may be greater than other ids. */
export const BundleParams = Type.Object({ id: Type.String({ maxLength: 20 }) });

const wish = (description: string, example: number) =>
  Type.Optional(Type.Number({ minimum: 0, description, examples: [example] }));

export const BidBody = Type.Object(
  {
    price: wish("Dollars an hour that the caller would pay; without effect: the answer is what a bid must reach", 0.2),
    max_start: wish("Seconds from now until the latest start; without effect: offers start at once", 3600),
    min_duration: wish("Seconds that the rental must be able to last", 86_400),
  },
  { additionalProperties: true },
);

const Unchecked = Type.Optional(Type.Unknown());

/** Settings of a search, which it checks by itself, beside conditions on any column. */
export const SearchBody = model(
  "OfferSearch",
  {
    q: Unchecked,
    type: Unchecked,
    order: Unchecked,
    limit: Unchecked,
    allocated_storage: Unchecked,
    disable_bundling: Unchecked,
    target_reliability: Unchecked,
  },
  { additionalProperties: true },
);
export const NestedSearchBody = Type.Object(
  { select_cols: Type.Optional(Type.Array(Type.String(), { maxItems: 200 })), q: Type.Optional(SearchBody) },
  { additionalProperties: true },
);
export const SearchQuery = Type.Object(
  { q: Type.Optional(Type.String()), select_cols: Type.Optional(Type.String({ maxLength: 8192 })) },
  { additionalProperties: true },
);
