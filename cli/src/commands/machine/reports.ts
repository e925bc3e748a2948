import { machineReport, machineReports, type MachineReportsAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Report = MachineReportsAnswer[number];
type Options = ConnectionOptions & { readonly json?: boolean };

const COLUMNS: readonly Column<Report>[] = [
  { title: "WHEN (UTC)", cell: (report) => dateText(report.created_at) },
  { title: "PROBLEM", cell: (report) => report.problem },
  { title: "MESSAGE", cell: (report) => report.message },
];

export async function listReports(id: number, options: Options): Promise<void> {
  const answer = await machineReports(connect(options), { id });
  printAnswer(answer, options, (reports) => renderTable(reports, COLUMNS, `Nobody has reported machine ${id}.`));
}

/** Reports a problem of a machine that the caller rents on, or did. */
export async function reportMachine(
  id: number,
  problem: string,
  options: Options & { readonly message?: string },
): Promise<void> {
  const body = { problem, ...given({ message: options.message }) };
  const answer = await machineReport(connect(options), { id, body });
  printAnswer(answer, options, ({ msg }) => msg);
}
