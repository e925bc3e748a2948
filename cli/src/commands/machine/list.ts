import { machineList, type MachineListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";
import { rentedText, stateText } from "./describe.ts";

type Machine = MachineListAnswer["machines"][number];

const COLUMNS: readonly Column<Machine>[] = [
  { title: "ID", cell: (machine) => machine.id },
  { title: "HOSTNAME", cell: (machine) => machine.hostname },
  { title: "GPUS", cell: ({ num_gpus: count, gpu_name: name }) => (count === 0 ? "none" : `${count}x ${name}`) },
  { title: "STATE", cell: stateText },
  { title: "RENTED", cell: rentedText },
  { title: "$/GPU HOUR", cell: (machine) => dollars(machine.listed_gpu_cost) },
  { title: "MIN BID", cell: (machine) => dollars(machine.min_bid_price) },
  { title: "$ TODAY", cell: (machine) => dollars(machine.earn_day) },
  { title: "$ MONTH", cell: (machine) => dollars(machine.earn_month) },
  { title: "RELIABLE", cell: (machine) => `${(machine.reliability2 * 100).toFixed(1)} %` },
  { title: "VERIFIED", cell: ({ verification }) => (verification === "verified" ? "yes" : "no") },
  { title: "LISTED UNTIL", cell: (machine) => (machine.listed ? dateText(machine.end_date) : "") },
  { title: "NOTE", cell: noteOf },
];

export async function listMachines(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await machineList(connect(options));
  const emptyText = "You have no machine. Let one join: berth host token create";
  printAnswer(answer, options, ({ machines }) => renderTable(machines, COLUMNS, emptyText));
}

function noteOf(machine: Machine): string {
  const { num_reports: reports, maintenance } = machine;
  return [
    machine.is_simulated ? "simulated" : "",
    machine.error_description ?? "",
    ...machine.gpu_problems,
    reports === 0 ? "" : `${reports} ${reports === 1 ? "report" : "reports"}`,
    maintenance.length === 0 ? "" : "maintenance announced",
  ]
    .filter((text) => text !== "")
    .join("; ");
}
