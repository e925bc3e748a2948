import { adminMachines, type AdminMachinesAnswer } from "../../../../../sdk/src/operations.ts";
import { connect } from "../../../connect.ts";
import { given } from "../../../given.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../../output.ts";
import { dateText } from "../../../time-text.ts";
import { moreText, type ListOptions } from "./list-options.ts";

type Machine = AdminMachinesAnswer["machines"][number];

const COLUMNS: readonly Column<Machine>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "HOST", cell: ({ host_id: id, host_email: email }) => `${id} ${email}` },
  { title: "HOSTNAME", cell: ({ hostname }) => hostname },
  { title: "GPUS", cell: ({ gpu_count: count, gpu_name: name }) => (count === 0 ? "none" : `${count}x ${name}`) },
  { title: "RENTED", cell: (machine) => machine.rented_count },
  { title: "STATE", cell: stateOf },
  { title: "$/GPU HOUR", cell: (machine) => (machine.is_listed ? dollars(machine.price_gpu) : "") },
  { title: "RELIABLE", cell: ({ reliability }) => `${(reliability * 100).toFixed(1)} %` },
  { title: "VERIFIED", cell: ({ verification }) => verification },
  { title: "AGENT", cell: (machine) => machine.agent_version },
  { title: "LAST SEEN", cell: (machine) => dateText(machine.last_seen_at) },
];

type MachineOptions = ListOptions & {
  readonly host?: number;
  readonly gpu?: string;
  readonly offline?: true;
  readonly broken?: true;
  readonly flagged?: true;
};

/** Machines of all hosts that match, the newest first. */
export async function findMachines(q: string | undefined, options: MachineOptions): Promise<void> {
  const { limit, after, host, gpu } = options;
  const query = given({
    ...{ q, limit, after_token: after, host_id: host, gpu_name: gpu },
    connected: options.offline === true ? ("false" as const) : undefined,
    broken: options.broken === true ? ("true" as const) : undefined,
    flagged: options.flagged === true ? ("true" as const) : undefined,
  });
  const answer = await adminMachines(connect(options), { query });
  printAnswer(answer, options, ({ machines, next_token: token }) =>
    [renderTable(machines, COLUMNS, "No machine matches."), moreText(token)].join(""),
  );
}

function stateOf(machine: Machine): string {
  const words = [
    machine.is_connected ? "online" : "offline",
    machine.is_listed ? "listed" : "not listed",
    machine.is_simulated ? "simulated" : "",
    machine.sick_count === 0 ? "" : `${machine.sick_count} sick`,
    machine.absent_count === 0 ? "" : `${machine.absent_count} absent`,
    machine.flag_count === 0 ? "" : `${machine.flag_count} flags`,
    machine.rests_until === null ? "" : "rests",
  ];
  return words.filter((word) => word !== "").join(", ");
}
