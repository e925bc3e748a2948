import { Type, type Static } from "typebox";
import { Allowed } from "../../../http/allowed-action.ts";
import { model } from "../../../http/model.ts";

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const NullableText = Nullable(Type.String());
const NullableNumber = Nullable(Type.Number());

const Price = model("PriceBreakdown", {
  gpuCostPerHour: Type.Number(),
  diskHour: Type.Number(),
  totalHour: Type.Number(),
  discountTotalHour: Type.Number(),
  discountedTotalPerHour: Type.Number(),
});

const AllowedActions = model("AllowedActions", {
  start: Allowed,
  stop: Allowed,
  reboot: Allowed,
  recycle: Allowed,
  destroy: Allowed,
  change_bid: Allowed,
  label: Allowed,
  change_traffic_limit: Allowed,
  update_template: Allowed,
  attach_ssh_key: Allowed,
  snapshot: Allowed,
  copy: Allowed,
  execute: Allowed,
  logs: Allowed,
  terminal: Allowed,
  files: Allowed,
  prepay: Allowed,
});
export const State = Type.Union([Type.Literal("running"), Type.Literal("stopped")]);

/** Bids in dollars an hour for the whole rental. */
const Bids = {
  winning_bid: Nullable(Type.Number()),
  bid_to_run_now: Nullable(Type.Number()),
};

/** The API's record of an instance. */
export const Instance = model("Instance", {
  id: Type.Integer(),
  actual_status: NullableText,
  intended_status: Type.Union([Type.Literal("running"), Type.Literal("stopped"), Type.Literal("destroyed")]),
  cur_state: State,
  next_state: State,
  status_msg: NullableText,
  pull: Nullable(
    model("PullProgress", {
      done_bytes: Type.Integer(),
      total_bytes: Type.Integer(),
      bytes_per_second: Type.Integer(),
      eta_seconds: NullableNumber,
    }),
  ),
  label: NullableText,
  machine_id: Type.Integer(),
  host_id: Type.Integer(),
  bundle_id: Nullable(Type.Integer()),
  host_last_seen: Type.Number(),
  hosting_type: Type.Integer(),
  template_id: Nullable(Type.Integer()),
  template_hash_id: NullableText,
  template_name: NullableText,
  is_bid: Type.Boolean(),
  is_reserved: Type.Boolean({ description: "True when a deposit pays its running time at a discount" }),
  is_simulated: Type.Boolean({ description: "True on a simulated host: no real container exists" }),
  gpu_is_declared: Type.Boolean(),
  start_date: Type.Number(),
  end_date: Type.Number(),
  deletes_at: Type.Number(),
  duration: Type.Number(),
  uptime_mins: NullableNumber,
  client_run_time: Type.Number(),
  host_run_time: Type.Number(),
  time_remaining: Type.String(),
  time_remaining_isbid: Type.String(),
  rentable: Type.Boolean(),
  external: Type.Boolean(),
  verification: Type.String(),
  static_ip: Type.Boolean(),
  image_uuid: Type.String(),
  image_args: Type.Array(Type.String()),
  image_runtype: Type.String(),
  extra_env: Type.Array(Type.Array(Type.String())),
  onstart: NullableText,
  jupyter_token: Type.String(),
  ssh_host: Type.String(),
  ssh_port: Type.Integer(),
  ssh_idx: Type.String(),
  ssh_host_key: Nullable(Type.String()),
  machine_dir_ssh_port: Type.Integer(),
  public_ipaddr: Type.String(),
  local_ipaddrs: Type.String(),
  ports: Type.Record(Type.String(), Type.Array(Type.Object({ HostIp: Type.String(), HostPort: Type.String() }))),
  port_urls: Type.Record(Type.String(), Type.String()),
  direct_port_count: Type.Integer(),
  direct_port_start: Type.Integer(),
  direct_port_end: Type.Integer(),
  num_gpus: Type.Integer(),
  gpu_name: Type.String(),
  gpu_arch: Type.String(),
  gpu_frac: Type.Number(),
  gpu_lanes: Type.Integer(),
  gpu_mem_bw: Type.Number(),
  bw_nvlink: Type.Number(),
  gpu_ram: Type.Integer(),
  gpu_totalram: Type.Integer(),
  gpu_total_ram: Type.Integer(),
  gpu_util: NullableNumber,
  gpu_temp: NullableNumber,
  cpu_cores: Type.Integer(),
  cpu_cores_effective: Type.Number(),
  cpu_name: Type.String(),
  cpu_arch: Type.String(),
  cpu_ram: Type.Integer(),
  cpu_util: Type.Number(),
  mem_limit: NullableNumber,
  mem_usage: NullableNumber,
  vmem_usage: NullableNumber,
  disk_space: Type.Number(),
  disk_usage: Type.Number(),
  disk_util: Type.Number(),
  disk_bw: Type.Number(),
  disk_name: Type.String(),
  inet_up: Type.Number(),
  inet_down: Type.Number(),
  mobo_name: Type.String(),
  os_version: Type.String(),
  pci_gen: Type.Number(),
  pcie_bw: Type.Number(),
  driver_version: Type.String(),
  cuda_max_good: Type.Number(),
  dlperf: Type.Number(),
  total_flops: Type.Number(),
  score: Type.Number(),
  reliability2: Type.Number(),
  geolocation: Type.String(),
  country_code: Type.String(),
  logo: Type.String(),
  webpage: NullableText,
  dph_base: Type.Number(),
  dph_total: Type.Number(),
  min_bid: Type.Number(),
  storage_cost: Type.Number(),
  storage_total_cost: Type.Number(),
  vram_costperhour: Type.Number(),
  inet_up_cost: Type.Number(),
  inet_down_cost: Type.Number(),
  internet_up_cost_per_tb: Type.Number(),
  internet_down_cost_per_tb: Type.Number(),
  traffic_cost: Type.Number(),
  traffic_limit: Type.Number(),
  traffic_limit_source: Type.Union([Type.Literal("budget"), Type.Literal("renter")], {
    description: "`renter` when the renter set the limit; `budget` for one that grows with running time",
  }),
  traffic_limit_reached: Type.Boolean({ description: "True when the instance may not run until the limit is raised" }),
  credit_balance: NullableNumber,
  credit_discount: NullableNumber,
  credit_discount_max: Type.Number(),
  dlperf_per_dphtotal: Type.Number(),
  flops_per_dphtotal: Type.Number(),
  search: Price,
  instance: Price,
  interruption: Nullable(
    model(
      "EvictionNotice",
      {
        reason: Type.Union([Type.Literal("outbid"), Type.Literal("on_demand")]),
        noticed_at: Type.Number(),
        stops_at: Type.Number(),
        ...Bids,
      },
      { description: "An eviction notice: the instance still runs, and a higher claim needs its GPUs" },
    ),
  ),
  waiting_for: Nullable(
    model(
      "WaitingInstance",
      {
        reason: Type.Union([
          Type.Literal("outbid", { description: "Its bid is too low." }),
          Type.Literal("devices", { description: "Its devices are not free yet, and no bid would change that." }),
          Type.Literal("slice", {
            description: "It, or the instance that has just resumed in its place, has its minimum slice.",
          }),
          Type.Literal("host", { description: "The host is away." }),
        ]),
        ahead: Type.Integer(),
        ...Bids,
        resumes_no_earlier_than: NullableNumber,
      },
      { description: "The reason why an instance that is wanted to run waits" },
    ),
  ),
  maintenance: Type.Array(
    Type.Object({
      start_time: Type.Number(),
      end_time: Type.Number(),
      maintenance_category: Type.String(),
      maintenance_reason: Type.String(),
    }),
  ),
  volume_info: Type.Array(Type.Object({ id: Type.Integer(), avail_space: Type.Number(), total_space: Type.Number() })),
  actions: Type.Object({ start: Allowed, stop: Allowed, reboot: Allowed, recycle: Allowed, destroy: Allowed }),
  allowed_actions: AllowedActions,
});

export const IdParams = Type.Object({ id: Type.Integer() });
export const SshKeyParams = Type.Object({ id: Type.Integer(), key_id: Type.Integer() });
export const AttachSshKeyBody = Type.Object({
  ssh_key: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
});
export const AttachNamedKeyBody = Type.Object({
  ssh_key_id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
  ssh_key: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
});
export const KeyAttached = model("AttachedSshKey", {
  success: Type.Literal(true),
  msg: Type.String(),
  key: Type.String(),
});
export const Message = Type.Object({ success: Type.Literal(true), msg: Type.String() });
export const SshKeys = Type.Object({
  success: Type.Literal(true),
  ssh_keys: Type.String(),
});

export const Done = Type.Object({ success: Type.Literal(true), msg: Type.Optional(Type.String()) });

export const UpdateBody = Type.Object(
  {
    state: Type.Optional(State),
    label: Type.Optional(Type.String()),
    traffic_limit: Type.Optional(Nullable(Type.Number())),
  },
  { additionalProperties: true },
);

export type UpdateBody = Static<typeof UpdateBody>;

export const BidBody = Type.Object(
  {
    client_id: Type.Union([Type.String(), Type.Integer()]),
    price: Nullable(
      Type.Number({
        minimum: 0.001,
        maximum: 32,
        description: "Bid in dollars an hour for the whole rental; null bids the `min_bid` of the instance",
      }),
    ),
  },
  { additionalProperties: true },
);

export const ListQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer()),
    after_token: Type.Optional(Type.String({ maxLength: 256 })),
    order_by: Type.Optional(Type.String({ maxLength: 4096 })),
    select_cols: Type.Optional(Type.String({ maxLength: 8192 })),
    select_filters: Type.Optional(Type.String({ maxLength: 65536 })),
  },
  { additionalProperties: true },
);

const Rows = Type.Array(Type.Object({}, { additionalProperties: true }));

export const Page = Type.Object({
  success: Type.Literal(true),
  instances_found: Type.Integer(),
  total_instances: Type.Integer(),
  label_counts: Type.Record(Type.String(), Type.Integer()),
  next_token: NullableText,
  instances: Rows,
});

export const EventQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  },
  { additionalProperties: true },
);

export const Events = Type.Object({
  success: Type.Literal(true),
  events: Type.Array(
    model("InstanceEvent", {
      at: Type.Number(),
      actor: Type.String(),
      cause: Type.String(),
      from: NullableText,
      to: Type.String(),
      message: Type.String(),
    }),
  ),
});

export const Listing = Type.Object({ instances_found: Type.Integer(), instances: Type.Array(Instance) });
export const Shown = Type.Object({ instances: Nullable(Instance) });

/** Each existing combination once. */
export const FilterValues = Type.Object({
  filters: Type.Array(
    model("InstanceFilter", { actual_status: NullableText, verification: Type.String(), gpu_name: Type.String() }),
  ),
});
