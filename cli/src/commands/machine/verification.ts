import { machineVerification, type MachineVerificationAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderFields, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Check = MachineVerificationAnswer["checks"][number];

const COLUMNS: readonly Column<Check>[] = [
  { title: "CHECK", cell: (check) => check.name },
  { title: "PASSED", cell: (check) => (check.passed ? "yes" : "no") },
  { title: "WHAT", cell: (check) => check.msg },
];

export async function showVerification(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await machineVerification(connect(options), { id: String(id) });
  printAnswer(answer, options, ({ msg, checks, rests_until: until, rest_reason: reason }) =>
    [
      msg,
      renderTable(checks, COLUMNS, ""),
      until === null ? "" : renderFields({ "rests until": `${dateText(until)} UTC`, reason }),
    ]
      .filter((text) => text !== "")
      .join("\n"),
  );
}
