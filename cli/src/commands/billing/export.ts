import { writeFileSync } from "node:fs";
import { billingExportCharges, billingExportInvoices } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printJson, printLine } from "../../output.ts";

type Options = ConnectionOptions & {
  readonly movements?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly output?: string;
  readonly json?: boolean;
};

/** A table for a spreadsheet, with exact amounts. */
export async function exportCsv(options: Options): Promise<void> {
  const { movements, from, to, output, json } = options;
  const fetchTable = movements === true ? billingExportInvoices : billingExportCharges;
  const bytes = await fetchTable(connect(options), { query: given({ from, to }) });
  const text = Buffer.from(bytes).toString("utf8");
  if (output !== undefined) writeFileSync(output, bytes);
  if (json === true) printJson({ success: true, ...(output === undefined ? { csv: text } : { file: output }) });
  else if (output === undefined) process.stdout.write(text);
  else printLine(`The table is in ${output}.`);
}
