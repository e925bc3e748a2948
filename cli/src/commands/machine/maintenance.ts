import {
  machineCancelMaintenance,
  machineMaintenances,
  machineScheduleMaintenance,
  type MachineMaintenancesAnswer,
  type MachineScheduleMaintenanceInput,
} from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Maintenance = MachineMaintenancesAnswer[number];
type Category = MachineScheduleMaintenanceInput["body"]["maintenance_category"];
type Options = ConnectionOptions & { readonly json?: boolean };
type Window = { readonly at: number; readonly hours: number; readonly category?: Category; readonly reason?: string };

const COLUMNS: readonly Column<Maintenance>[] = [
  { title: "MACHINE", cell: (window) => window.machine_id },
  { title: "FROM (UTC)", cell: (window) => dateText(window.start_time) },
  { title: "TO (UTC)", cell: (window) => dateText(window.end_time) },
  { title: "HOURS", cell: (window) => window.duration_hours },
  { title: "WHAT", cell: (window) => window.maintenance_category },
  { title: "WHY", cell: (window) => window.maintenance_reason },
];

export async function scheduleMaintenance(id: number, options: Options & Window): Promise<void> {
  const { at, hours, category, reason } = options;
  const why = given({ maintenance_category: category, maintenance_reason: reason });
  const answer = await machineScheduleMaintenance(connect(options), {
    id,
    body: { sdate: at, duration: hours, ...why },
  });
  printAnswer(
    answer,
    options,
    ({ you_sent: told }) => `Machine ${id}: ${told}. Cancel it: berth machine maintenance cancel ${id}`,
  );
}

export async function cancelMaintenance(id: number, options: Options): Promise<void> {
  const answer = await machineCancelMaintenance(connect(options), { id });
  printAnswer(answer, options, ({ msg }) => msg);
}

/** Lists maintenances of the caller's machines, and of machines that they rent on. */
export async function listMaintenances(options: Options): Promise<void> {
  const answer = await machineMaintenances(connect(options));
  printAnswer(answer, options, (windows) => renderTable(windows, COLUMNS, "No maintenance is announced."));
}
