import { secretList } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

const COLUMNS: readonly Column<readonly [string, string]>[] = [
  { title: "NAME", cell: ([name]) => name },
  { title: "VALUE", cell: ([, value]) => value },
];

export async function listEnvVars(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await secretList(connect(options));
  const emptyText = "You have no environment variables. Add one with: berth env-var create <name>";
  printAnswer(answer, options, ({ secrets }) => renderTable(Object.entries(secrets), COLUMNS, emptyText));
}
