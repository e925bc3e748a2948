import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";
import { PHASES } from "../../rental/instances/for-administration.ts";
import { flag, idFilter, PAGE, textFilter } from "./query.ts";

const START = 1_767_225_600;
const Success = Type.Literal(true);
const moment = (description: string) =>
  Type.Number({ description: `${description}, in seconds since the epoch`, examples: [START] });
const momentOrNull = (description: string) =>
  Type.Union([Type.Number(), Type.Null()], {
    description: `${description}, in seconds since the epoch`,
    examples: [null],
  });
const count = (description: string, example: number) => Type.Integer({ description, examples: [example] });
const text = (description: string, example: string) => Type.String({ description, examples: [example] });
const yes = (description: string, example = false) => Type.Boolean({ description, examples: [example] });
const Verification = Type.Union([Type.Literal("verified"), Type.Literal("unverified"), Type.Literal("deverified")]);
const Phase = Type.Union(PHASES.map((phase) => Type.Literal(phase)));
const PHASE_MEANING = `Phase that the server has decided on: ${PHASES.join(", ")}`;

export const MachinesQuery = Type.Object({
  q: textFilter("Id of the machine, or a part of its host name, its key or the name of its GPUs", "rig"),
  host_id: idFilter("Only machines of this host", 7),
  gpu_name: textFilter("Only machines with GPUs of this model", "RTX 4090"),
  connected: flag("`true` for machines whose agent is connected, `false` for others"),
  listed: flag("`true` for listed machines, `false` for others"),
  broken: flag("`true` for machines with a sick or missing GPU, `false` for others"),
  flagged: flag("`true` for machines with an open flag, `false` for others"),
  verification: Type.Optional(
    Type.Unsafe<"verified" | "unverified" | "deverified">({
      ...Verification,
      description: "Only machines with this verification",
      examples: ["verified"],
    }),
  ),
  ...PAGE,
});

const FoundMachineRow = model("FoundMachine", {
  id: count("Id of the machine", 12),
  host_id: count("Id of the host's account", 7),
  host_email: text("E-mail address of the host", "host@example.com"),
  hostname: text("Host name that the machine declares", "rig-1"),
  is_simulated: yes("True for a simulated machine"),
  gpu_name: text("Model of its GPUs; empty without GPUs", "RTX 4090"),
  gpu_count: count("Number of GPUs that are in the machine", 4),
  rented_count: count("Number of its devices that are rented", 2),
  sick_count: count("Number of its GPUs that are sick", 0),
  absent_count: count("Number of GPUs that it had and does not have now", 0),
  geolocation: text("Place that the machine declares", "Berlin, DE"),
  agent_version: text("Version of the agent", "1.0.0"),
  is_connected: yes("True while the agent is connected", true),
  last_seen_at: moment("Time of the last sign of life"),
  is_listed: yes("True while the machine is on the market", true),
  verification: Type.String({ description: "`verified`, `unverified` or `deverified`", examples: ["verified"] }),
  reliability: Type.Number({ description: "Measured reliability from 0 to 1", examples: [0.98] }),
  price_gpu: Type.Number({ description: "Dollars per GPU and hour that its host asks", examples: [0.35] }),
  end_at: moment("Time until which it can be rented"),
  rests_until: momentOrNull("Time until which it is not rented out after failed starts; null when it does not rest"),
  flag_count: count("Number of open flags on the machine", 0),
  report_count: count("Number of renters' reports on the machine", 1),
  created_at: Type.Number(),
});
export type FoundMachineRow = Static<typeof FoundMachineRow>;

export const MachinesResponse = Type.Object({
  success: Success,
  machines: Type.Array(FoundMachineRow, { description: "Machines, the newest first" }),
  next_token: Type.Union([Type.String(), Type.Null()]),
});

export const InstancesQuery = Type.Object({
  q: textFilter("Id of the instance, or a part of its label", "training"),
  renter_id: idFilter("Only instances of this account", 7),
  machine_id: idFilter("Only instances on this machine", 12),
  phase: Type.Optional(
    Type.Unsafe<(typeof PHASES)[number]>({
      ...Phase,
      description: "Only instances in this phase",
      examples: ["running"],
    }),
  ),
  bid: flag("`true` for interruptible instances, `false` for others"),
  over: flag("`true` for instances that have ended, `false` for others; both by default"),
  ...PAGE,
});

const FoundInstanceRow = model("FoundInstance", {
  id: count("Id of the instance", 77),
  user_id: count("Id of the renter's account", 7),
  email: text("E-mail address of the renter", "renter@example.com"),
  machine_id: count("Id of the machine", 12),
  label: Type.Union([Type.String(), Type.Null()], {
    description: "Label that the renter gave",
    examples: ["training"],
  }),
  image: text("Image of the container", "ubuntu:24.04"),
  is_bid: yes("True for an interruptible instance"),
  device_count: count("Number of its GPUs, or of cores on a machine without GPUs", 1),
  disk_gb: Type.Number({ description: "Disk in GB", examples: [20] }),
  dph_total: Type.Number({ description: "Dollars per hour while it runs, or its bid", examples: [0.35] }),
  desired: text("State that its owner wants: running, stopped or destroyed", "running"),
  phase: text(PHASE_MEANING, "running"),
  phase_cause: text("Cause of the phase", "started"),
  phase_since: moment("Time since which it is in this phase"),
  status_msg: text("Message of the host about it; empty without one", ""),
  problem: text("Trouble with its GPUs; empty without any", ""),
  created_at: Type.Number(),
  end_at: moment("Agreed end of the contract"),
  ended_at: momentOrNull("Time at which it ended; null while it has not"),
});
export type FoundInstanceRow = Static<typeof FoundInstanceRow>;

export const InstancesResponse = Type.Object({
  success: Success,
  instances: Type.Array(FoundInstanceRow, { description: "Instances, the newest first" }),
  next_token: Type.Union([Type.String(), Type.Null()]),
});

export const SearchQuery = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: 100,
    description:
      "An id, or a part of a name, an e-mail address, a label or a reference; documents by the first characters of their number",
    examples: ["ada@"],
  }),
});

const SearchHit = model("SearchHit", {
  kind: Type.Union(
    [
      Type.Literal("person"),
      Type.Literal("team"),
      Type.Literal("machine"),
      Type.Literal("instance"),
      Type.Literal("volume"),
      Type.Literal("document"),
      Type.Literal("payout"),
    ],
    { description: "Kind of the thing", examples: ["person"] },
  ),
  id: text("Id of the thing; the number of a document", "7"),
  title: text("Name, label or number of the thing", "renter@example.com"),
  detail: text("A phrase that tells it from similar ones", "Ada Example"),
  user_id: count("Id of the account that the thing belongs to", 7),
});
export type SearchHit = Static<typeof SearchHit>;

export const SearchResponse = Type.Object({
  success: Success,
  results: Type.Array(SearchHit, {
    description: "Things that match, at most ten of a kind; those whose id or name is the text come first",
  }),
  is_cut: yes("True when a kind has more matches than are shown"),
});
