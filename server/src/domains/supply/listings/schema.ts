import { Type, type Static } from "typebox";
import { Allowed } from "../../../http/allowed-action.ts";
import { model } from "../../../http/model.ts";
import { MAX_ID } from "../../../base/ids.ts";
import { REPORT_HEADING } from "../../people/accounts/index.ts";
import { MAINTENANCE_CATEGORIES } from "../hosts/for-listings.ts";

const Nullable = <const T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const MachineNumber = (description: string) => Type.Integer({ minimum: 1, maximum: MAX_ID, description });
const optionalPrice = (description: string) => Type.Optional(Type.Number({ description }));
const time = (description: string) => Type.Number({ description: `${description}, in seconds since the epoch` });
const Success = Type.Literal(true);
const NONE = "always 0: this server sells none";

export const IdParams = Type.Object({ id: Type.Integer() });

/** Clients send a list of ids, or one of them, or several as a text with commas. */
export const MachineIds = Type.Union(
  [
    Type.Array(MachineNumber("Id of a machine"), { maxItems: 10_000 }),
    MachineNumber("Id of a machine"),
    Type.String({ maxLength: 65_536 }),
  ],
  { description: "Ids of machines: a list, one id, or a text with commas", examples: [[12, 13]] },
);

export const ListBody = Type.Object({
  machine: Type.Optional(MachineNumber("Id of the machine; `machines` counts before it")),
  machines: Type.Optional(
    Type.Array(MachineNumber("Id of a machine"), {
      minItems: 1,
      maxItems: 100,
      description: "Ids of machines that get the same terms, at most 100: all of them or none",
      examples: [[12, 13]],
    }),
  ),
  hidden_listing: Type.Optional(
    Type.Boolean({ description: "False, the default: searches find every listing", examples: [false] }),
  ),
  price_gpu: optionalPrice("On-demand price in dollars per GPU and hour"),
  price_disk: optionalPrice("Dollars per GB and month"),
  price_inetu: optionalPrice("Dollars per GB that is sent"),
  price_inetd: optionalPrice("Dollars per GB that is received"),
  price_min_bid: optionalPrice("Minimum bid in dollars per GPU and hour, at most `price_gpu`"),
  min_chunk: Type.Optional(Type.Number({ description: "Fewest GPUs of a rental" })),
  end_date: Type.Optional(time("End of the listing")),
  credit_discount_max: Type.Optional(Type.Number({ description: "Largest discount for prepaying, from 0 to 0.5" })),
  duration: Type.Optional(Type.Union([Type.Number(), Type.String({ maxLength: 64 })])),
  vol_size: Type.Optional(
    Type.Number({ description: "Space for rent as volumes, in GB; 0 for none, half of the free space by default" }),
  ),
  vol_price: optionalPrice("Dollars per GB and month of volumes; `price_disk` by default"),
});

const listed = {
  extended: Type.Integer({ description: "Number of rentals that go on until the new end, at their own prices" }),
  price_increases: Type.Integer({
    description: "Number of renters who were asked for a higher price in return for a later end",
  }),
  machine_id: Type.Integer(),
  end_date: time("End of the listing"),
};
const Sent = Type.Object(
  {},
  {
    additionalProperties: true,
    description: "The fields of the request, as the server read them",
    examples: [{ machine: 12, price_gpu: 0.35 }],
  },
);

export const ListResponse = Type.Object({
  success: Success,
  ...listed,
  msg: Type.String(),
  you_sent: Sent,
  results: Type.Array(model("ListedMachine", { ...listed, user_id: Type.Integer() }), {
    description: "Outcome for each machine; the fields beside this one sum up, or are those of the first",
  }),
});

export const MachineDone = model("MachineChange", {
  success: Success,
  machine_id: Type.Integer(),
  user_id: Type.Integer(),
});

export const UnlistResponse = Type.Object({
  success: Success,
  machine_id: Type.Integer(),
  user_id: Type.Integer(),
  orphaned_cleaned: Type.Integer({
    description: "Number of leftovers of earlier listings that were removed, always 0: none are left",
    examples: [0],
  }),
});

export const MinBidBody = Type.Object({
  price: Type.Number({ description: "Minimum bid in dollars per GPU and hour" }),
});
export const MinBidResponse = Type.Object({ success: Success, you_sent: Type.Object({ price: Type.Number() }) });

export const JobBody = Type.Object({
  machine: MachineNumber("Id of the machine"),
  price_gpu: optionalPrice("Dollars per GPU and hour; shown, and charged to nobody"),
  price_inetu: optionalPrice("Dollars per GB sent; shown, and charged to nobody"),
  price_inetd: optionalPrice("Dollars per GB received; shown, and charged to nobody"),
  image: Type.String({ minLength: 1, maxLength: 1024 }),
  args: Type.Optional(Type.Array(Type.String(), { maxItems: 256 })),
});
export type JobBody = Static<typeof JobBody>;
const SaidJob = model("DefaultJob", {
  image: Type.String(),
  args: Type.Array(Type.String()),
  price_gpu: Type.Number(),
  price_inetu: Type.Number(),
  price_inetd: Type.Number(),
});
export type SaidJob = Static<typeof SaidJob>;
export const JobResponse = Type.Object({
  success: Success,
  machine_id: Type.Integer(),
  user_id: Type.Integer(),
  you_sent: SaidJob,
});

export const Category = Type.Enum(MAINTENANCE_CATEGORIES, { description: "Subject of the work on the machine" });
export const MaintenanceBody = Type.Object({
  sdate: Type.Union([Type.Number(), Type.String({ maxLength: 64 })]),
  duration: Type.Number(),
  maintenance_reason: Type.Optional(Type.String({ maxLength: 1000, description: "The reason, which renters read" })),
  maintenance_category: Type.Optional(Category),
});
export const MaintenanceResponse = Type.Object({
  success: Success,
  you_sent: Type.String(),
  machine_id: Type.Integer(),
  notifications_sent: Type.Integer({ description: "Number of renters who were told", examples: [2] }),
});
export const MaintenanceRecord = model("Maintenance", {
  id: Type.Integer({ description: "Id of the maintenance, by which it can be cancelled", examples: [31] }),
  machine_id: Type.Integer(),
  start_time: time("Beginning of the maintenance"),
  end_time: time("End of the maintenance"),
  duration_hours: Type.Number(),
  maintenance_category: Category,
  maintenance_reason: Type.String(),
  created_at: time("Time of the announcement"),
  cancelled_at: Type.Null({ description: "Always null: a maintenance that was cancelled is not listed" }),
});
export type MaintenanceRecord = Static<typeof MaintenanceRecord>;
export const MaintenancesQuery = Type.Object({
  machine_ids: Type.Optional(Type.String()),
});
export const MaintenancesResponse = Type.Array(MaintenanceRecord);
export const CancelResponse = Type.Object({
  success: Success,
  ctime: time("Now"),
  machine_id: Type.Integer(),
  msg: Type.String(),
});

export const CleanupResponse = Type.Object({
  success: Success,
  ctime: time("Now"),
  machine_id: Type.Integer(),
  user_id: Type.Integer(),
  num_deleted: Type.Integer({ description: "Number of rentals past their end date that were removed" }),
  msg: Type.String(),
});

export const DefragBody = Type.Object({
  machine_ids: MachineIds,
});
export const DefragResponse = Type.Object({
  success: Type.Boolean({ description: "False when the request named no machine" }),
  defragmented: Type.Union([Type.Array(Type.Integer()), Type.Null()], {
    description: "Ids of the machines; null when the request named none",
    examples: [[12]],
  }),
  n0: Type.Integer({ description: "Number of offers of these machines before", examples: [3] }),
  n1: Type.Integer({ description: "Number of offers of these machines now", examples: [4] }),
  n2: Type.Integer({ description: "Number of offers that were missing and were made", examples: [1] }),
  machines: Type.Array(
    model("DefragmentedMachine", {
      machine_id: Type.Integer(),
      offers: Type.Array(Type.Integer(), { description: "Number of GPUs of each offer" }),
      num_new: Type.Integer({ description: "Number of offers that were missing and were made" }),
    }),
  ),
  msg: Type.String(),
});

export const Done = Type.Object({ success: Success, msg: Type.String() });

export const ReportBody = Type.Object({
  problem: Type.String({ minLength: 1, maxLength: 100 }),
  message: Type.Optional(Type.String({ maxLength: 2000 })),
});
export const ReportsResponse = Type.Array(
  model("MachineReport", {
    problem: Type.String(),
    message: Type.String(),
    created_at: time("Time of the report, or of its last renewal"),
  }),
);

/** The API's record of a machine, with further facts for its host. */
export const MachineRecord = model("Machine", {
  id: Type.Integer(),
  machine_id: Type.Integer(),
  hostname: Nullable(Type.String()),
  is_simulated: Type.Boolean(),
  num_gpus: Type.Integer(),
  gpu_name: Type.String(),
  gpu_ram: Type.Integer(),
  total_flops: Type.Number(),
  cpu_cores: Type.Integer(),
  cpu_name: Type.String(),
  cpu_ram: Type.Integer(),
  disk_space: Type.Number(),
  avail_disk_space: Type.Number(),
  driver_version: Type.String(),
  cuda_max_good: Type.Number(),
  inet_up: Type.Number(),
  inet_down: Type.Number(),
  public_ipaddr: Type.String(),
  geolocation: Type.String(),
  verification: Type.String(),
  hosting_type: Type.Integer(),
  reliability2: Type.Number(),
  listed: Type.Boolean(),
  rentable: Type.Boolean({
    description: "True when the machine is listed, connected and not at rest, and has something free to rent",
  }),
  listed_gpu_cost: Type.Number(),
  min_bid_price: Type.Number(),
  listed_storage_cost: Type.Number(),
  listed_volume_cost: Nullable(
    Type.Number({
      description: "Price of volumes, in dollars per GB and month; null when no space is listed for them",
    }),
  ),
  listed_inet_up_cost: Type.Number(),
  listed_inet_down_cost: Type.Number(),
  credit_discount_max: Type.Number(),
  min_chunk: Type.Integer(),
  end_date: time("End of the listing"),
  duration: Nullable(
    Type.Number({
      description: "Length of a rolling listing, in seconds: its end stays that far ahead; null for a fixed end",
    }),
  ),
  volume_offer: Nullable(
    model("MachineVolumeListing", {
      id: Type.Integer(),
      size: Type.Number(),
      rented: Type.Number({ description: "Space that renters hold, in GB" }),
      storage_cost: Type.Number(),
      end_date: time("End of its listing"),
    }),
  ),
  is_online: Type.Boolean(),
  timeout: Type.Integer({
    description: "Seconds since the agent's last report, at least 1, while the machine is away; 0 while it is online",
  }),
  online_since: Nullable(time("Time of the connection")),
  last_seen: time("Time of the agent's last report"),
  gpu_occupancy: Type.String(),
  rented_devices: Type.Integer({ description: "GPUs that renters hold; cores on a machine without GPUs" }),
  num_renters: Type.Integer(),
  current_rentals_running: Type.Integer(),
  current_rentals_running_on_demand: Type.Integer({ description: "On-demand instances that run now" }),
  current_rentals_on_demand: Type.Integer(),
  current_rentals_reserved: Type.Integer({ description: "Reserved instances that have a disk on the machine" }),
  current_rentals_interruptible: Type.Integer({
    description: "Interruptible instances that have a disk on the machine",
  }),
  current_rentals_resident: Type.Integer({ description: "Rentals that exist, stopped ones included" }),
  client_end_date: Nullable(time("End date of the last rental")),
  earn_hour: Type.Number({
    description:
      "Dollars that instances pay for an hour at present, running and for their disks; without traffic and volumes",
  }),
  earn_day: Type.Number({ description: "Dollars that the machine earned today (UTC)" }),
  earn_month: Type.Number({ description: "Dollars that the machine earned this month (UTC)" }),
  num_reports: Type.Integer(),
  gpu_problems: Type.Array(Type.String()),
  error_description: Nullable(Type.String()),
  rests_until: Nullable(time("Time until which it rests")),
  default_job: Nullable(SaidJob),
  maintenance: Type.Array(MaintenanceRecord),
  allowed_actions: model("MachineActions", {
    list: Allowed,
    unlist: Allowed,
    set_default_job: Allowed,
    end_default_job: Allowed,
    schedule_maintenance: Allowed,
    clean_up: Allowed,
    delete: Allowed,
  }),
});
export type MachineRecord = Static<typeof MachineRecord>;

export const MachinesQuery = Type.Object({
  user_id: Type.Optional(Type.String()),
});
export const MachinesResponse = Type.Object({ machines: Type.Array(MachineRecord) });
export const MachineResponse = Type.Array(MachineRecord);

export const EarningsParams = Type.Object({ user_id: Type.String() });
export const EarningsQuery = Type.Object({
  sday: Type.Optional(Type.Number()),
  eday: Type.Optional(Type.Number()),
  last_days: Type.Optional(Type.Number()),
  machid: Type.Optional(MachineNumber("Id of the only machine to report on")),
});
const earned = {
  gpu_earn: Type.Number(),
  sto_earn: Type.Number(),
  bwu_earn: Type.Number(),
  bwd_earn: Type.Number(),
  sla_earn: Type.Number({ description: `Dollars for service levels, ${NONE}`, examples: [0] }),
};
const NullableReliability = (description: string) =>
  Type.Union([Type.Number(), Type.Null()], { description, examples: [0.9987] });
export const TOTALS = {
  total_gpu: Type.Number(),
  total_stor: Type.Number(),
  total_bwu: Type.Number(),
  total_bwd: Type.Number(),
  total_sla: Type.Number({ description: `Dollars for service levels, ${NONE}`, examples: [0] }),
  avg_reliability: NullableReliability(
    "Mean reliability of these machines at present, from 0 to 1; null without machines",
  ),
};
export const MachineEarnings = model("MachineEarnings", {
  machine_id: Type.Integer(),
  ...earned,
  reliability: NullableReliability("Reliability at present, from 0 to 1; null for a machine that is deleted"),
});
export const DayEarnings = model("DayEarnings", {
  day: Type.Integer({ description: "Days since 1970" }),
  ...earned,
  reliability: NullableReliability("Null: there is no reliability of a single day"),
});
export const EarningsResponse = model("EarningsReport", {
  sday: Type.Integer({ description: "First day of the report (UTC), in days since 1970", examples: [20_425] }),
  eday: Type.Integer({ description: "Last day of the report (UTC), in days since 1970", examples: [20_454] }),
  summary: Type.Object(TOTALS, { title: "EarningsReportSummary" }),
  ...REPORT_HEADING,
  current: Type.Object({
    balance: Type.Number(),
    service_fee: Type.Number(),
    total: Type.Number(),
    credit: Type.Number(),
  }),
  per_machine: Type.Array(MachineEarnings),
  per_day: Type.Array(DayEarnings),
});
export type EarningsResponse = Static<typeof EarningsResponse>;
