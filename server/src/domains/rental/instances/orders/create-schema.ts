import { Type } from "typebox";
import { model } from "../../../../http/model.ts";
import { VolumeInfo } from "../../../supply/volumes/for-instances.ts";
import { State } from "../schema.ts";

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

const Unchecked = Type.Optional(Type.Unknown());

/**
 * Launch settings that the templates domain checks by itself, with a message that names the field. The last three are
 * accepted without effect.
 */
const launchFields = {
  args: Unchecked,
  args_str: Unchecked,
  image_login: Unchecked,
  user: Unchecked,
  use_jupyter_lab: Unchecked,
  jupyter_dir: Unchecked,
  python_utf8: Unchecked,
  lang_utf8: Unchecked,
  extra_filters: Unchecked,
  vm: Unchecked,
  force: Unchecked,
  extra: Unchecked,
  create_from: Unchecked,
};

/** The launch settings (image, env, onstart, …) are checked field by field by the templates domain. */
export const CreateBody = Type.Object(
  {
    template_hash_id: Type.Optional(Type.String({ maxLength: 64 })),
    image: Type.Optional(
      Type.String({
        maxLength: 1024,
        description: "Container image, `[registry/]repository[:tag][@digest]`; required unless a template supplies it",
      }),
    ),
    env: Type.Optional(
      Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
        description:
          "Variables and ports: flags `-e NAME=value` and `-p host:container` as one text, or the same as an object",
      }),
    ),
    volume_info: Type.Optional(VolumeInfo),
    price: Type.Optional(
      Type.Number({ description: "Bid in dollars an hour for the whole rental, which makes it interruptible" }),
    ),
    max_dph: Type.Optional(
      Type.Number({
        description: "Highest price of the rental in dollars an hour, GPUs and disk together; 410 when it costs more",
      }),
    ),
    target_state: Type.Optional(State),
    cancel_unavail: Type.Optional(Type.Boolean()),
    disk: Type.Optional(Type.Union([Type.Number(), Type.String()])),
    label: Type.Optional(Type.String()),
    runtype: Type.Optional(Type.String()),
    onstart: Type.Optional(Type.String()),
    traffic_limit: Type.Optional(
      Type.Union([Type.Number(), Type.String(), Type.Null()], {
        description:
          "Dollars that all traffic of the instance may cost; the instance stops when they are used up (docs/rent.md)",
      }),
    ),
    ...launchFields,
  },
  { additionalProperties: true },
);

export const CreateAnswer = model("NewInstance", {
  success: Type.Literal(true),
  new_contract: Type.Integer({ description: "Id of the new instance" }),
  instance_api_key: Type.String(),
  ask_id: Type.Integer(),
  dph_total: Type.Optional(
    Type.Number({ description: "Dollars an hour that were agreed, for GPUs and disk together" }),
  ),
  dph_base: Type.Optional(
    Type.Number({
      description: "Dollars an hour for the GPUs while it runs; of a bid, the dollars an hour that it offers",
    }),
  ),
  storage_total_cost: Type.Optional(Type.Number({ description: "Dollars an hour for the disk, also while stopped" })),
  storage_cost: Type.Optional(Type.Number({ description: "Dollars per GB and month of the disk" })),
  inet_up_cost: Type.Optional(Type.Number({ description: "Dollars per GB sent" })),
  inet_down_cost: Type.Optional(Type.Number({ description: "Dollars per GB received" })),
  end_date: Type.Optional(Type.Number({ description: "End date of the rental, in seconds since the epoch" })),
});

/** The body of one creation, which can also be a dry run. */
export const CreateOneBody = Type.Object(
  {
    ...CreateBody.properties,
    dry_run: Type.Optional(
      Type.Boolean({
        description:
          "True for a dry run: the answer says what the instance would cost and whether it would start; nothing is created",
      }),
    ),
  },
  { additionalProperties: true },
);

const Hours = Nullable(Type.Number());

export const ForecastAnswer = model("RentalForecast", {
  success: Type.Literal(true),
  dry_run: Type.Literal(true),
  ask_id: Type.Integer(),
  price: Type.Object({
    gpu_per_hour: Type.Number(),
    disk_per_hour: Type.Number(),
    volume_per_hour: Type.Number(),
    total_per_hour: Type.Number(),
    inet_up_per_gb: Type.Number(),
    inet_down_per_gb: Type.Number(),
  }),
  traffic_limit: Type.Number({ description: "Dollars that its traffic may cost, from the start on", examples: [3.4] }),
  traffic_limit_source: Type.Union([Type.Literal("budget"), Type.Literal("renter")], {
    description: "`renter` for a limit that was set; `budget` for one that grows while the instance runs",
    examples: ["budget"],
  }),
  hold: Type.Number(),
  balance: Type.Number({ description: "Dollars of credit, less what has been used already" }),
  balance_lasts_hours: Type.Object(
    { now: Hours, after: Hours },
    { description: "Hours that the balance lasts at the present cost, and with this rental" },
  ),
  caps: Type.Array(
    model("ForecastCap", {
      id: Type.Integer(),
      scope: Type.String(),
      scope_id: Type.Integer(),
      period: Type.String(),
      limit: Type.Number(),
      left: Type.Number({ description: "Dollars that the cap leaves now, without this rental" }),
    }),
  ),
  would_start: Type.Boolean(),
  reason: Nullable(Type.Object({ error: Type.String(), msg: Type.String() })),
});
