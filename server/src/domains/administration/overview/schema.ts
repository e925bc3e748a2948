import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

const START = 1_767_225_600;
const count = (description: string, example: number) => Type.Integer({ description, examples: [example] });
const dollars = (description: string, example: number) => Type.Number({ description, examples: [example] });
const momentOrNull = (description: string) =>
  Type.Union([Type.Number(), Type.Null()], {
    description: `${description}, in seconds since the epoch`,
    examples: [START],
  });

const ModelRow = model("OverviewGpus", {
  gpu_name: Type.String({ description: "Model of the GPU", examples: ["RTX 4090"] }),
  total_count: count("Number of GPUs of this model that are in a machine", 16),
  rented_count: count("Number of GPUs that are rented", 9),
  free_count: count("Number of healthy GPUs that can be rented now", 5),
  broken_count: count("Number of sick GPUs that nobody rents", 1),
  offline_count: count("Number of GPUs on machines that are away that nobody rents", 0),
  unlisted_count: count("Number of other GPUs: not listed, or on a machine that rests", 1),
});

const Refusal = model("OverviewRefusal", {
  code: Type.String({ description: "Error code of the refusal", examples: ["insufficient_credit"] }),
  hour_count: count("Number of refusals in the last hour", 2),
  day_count: count("Number of refusals in the last 24 hours", 14),
});

const Movement = model("OverviewMovement", {
  code: Type.String({ description: "Kind of the movement in the ledger", examples: ["payment"] }),
  day_amount: dollars("Dollars moved in the last 24 hours", 120),
  month_amount: dollars("Dollars moved in the last 30 days", 4200),
});

const Money = model(
  "OverviewMoney",
  {
    credit: dollars("Dollars of credit of all accounts, with usage that is not charged yet", 12_000),
    held: dollars("Dollars of the credit that are set aside for what runs", 340),
    deposits: dollars("Dollars that are prepaid for instances", 90),
    earnings: dollars("Dollars that hosts have earned and that are in no payout yet", 2_100),
    debt: dollars("Dollars by which credit or earnings of accounts are below zero, together", 4.5),
    fees: dollars("Dollars of fees that the platform has kept", 310),
    movements: Type.Array(Movement, { description: "Money that came in, went out or was granted, by kind" }),
  },
  { description: "Money of the house and of everybody, from the ledger" },
);

export const OverviewResponse = model("Overview", {
  success: Type.Literal(true),
  at: Type.Number({ description: "Time of the snapshot, in seconds since the epoch", examples: [START] }),
  gpus: Type.Array(ModelRow, { description: "GPUs by model, the most common first" }),
  occupancy: Type.Union([Type.Number(), Type.Null()], {
    description: "Part of the GPUs on connected machines that is rented, from 0 to 1; null without GPUs",
    examples: [0.56],
  }),
  machines: model(
    "OverviewMachines",
    {
      total_count: count("Number of machines", 6),
      connected_count: count("Number of machines whose agent is connected to a server", 5),
      listed_count: count("Number of listed machines", 5),
      agents_here_count: count("Number of agents that are connected to the server that answers", 5),
    },
    { description: "Machines by state" },
  ),
  instances: Type.Record(Type.String(), Type.Integer(), {
    description: "Number of instances in each phase",
    examples: [{ running: 9, stopped: 3 }],
  }),
  rents: model(
    "OverviewRents",
    {
      hour_count: count("Number of instances that were rented in the last hour", 3),
      day_count: count("Number of instances that were rented in the last 24 hours", 41),
      refusals: Type.Array(Refusal, {
        description: "Refused rents by error code, as the answering server counted them",
      }),
      refusals_since: Type.Number({
        description: "Time since which that server counts, in seconds since the epoch",
        examples: [START],
      }),
    },
    { description: "Rents and refusals" },
  ),
  money: Money,
  payouts: model(
    "OverviewPayouts",
    {
      waiting_count: count("Number of payouts that are not sent yet", 2),
      waiting_amount: dollars("Dollars of these payouts", 61.2),
      failed_count: count("Number of payouts that failed in the last 30 days", 0),
      hold_count: count("Number of open holds on payouts", 1),
    },
    { description: "Payouts to hosts" },
  ),
  attention: model(
    "OverviewAttention",
    {
      flag_count: count("Number of open flags of hosts", 1),
      report_count: count("Number of renters' reports on machines in the last seven days", 2),
      freeze_count: count("Number of frozen accounts", 0),
    },
    { description: "Numbers of things that wait for an administrator" },
  ),
  queue: model(
    "OverviewQueue",
    {
      open_count: count("Number of standing requests that wait", 4),
      oldest_at: momentOrNull("Time of the oldest of them; null when the queue is empty"),
    },
    { description: "The queue of standing requests" },
  ),
  endpoints: model(
    "OverviewEndpoints",
    {
      active_count: count("Number of active endpoints", 2),
      worker_count: count("Number of their workers", 5),
    },
    { description: "Endpoints and their workers" },
  ),
  loops: model(
    "OverviewLoops",
    {
      total_count: count("Number of background loops of the answering server", 60),
      late: Type.Array(Type.String(), {
        description: "Names of loops that had no run without failure within three periods",
        examples: [[]],
      }),
    },
    { description: "Background loops" },
  ),
  audit: model(
    "OverviewAudit",
    {
      reconciled_at: momentOrNull("Time of the last reconciliation; null before the first"),
      last_found: Type.Record(Type.String(), Type.Integer(), {
        description: "Numbers of what that run found",
        examples: [{ found: 0, repaired: 0, told: 0, alarmed: 0 }],
      }),
      alarm_count: count("Number of findings of the last seven days that no rule could repair", 0),
      sealed_until: momentOrNull(
        "Time up to which an audit found the books sound and sealed them; null before the first",
      ),
    },
    { description: "Reconciliation and audit" },
  ),
});
export type OverviewResponse = Static<typeof OverviewResponse>;
