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
  printAnswer(answer, options, ({ msg, checks, line, rests_until: until, rest_reason: reason }) =>
    [
      msg,
      renderTable(checks, COLUMNS, ""),
      renderFields({
        "declared uplink": speedText(line.inet_up, line.inet_down),
        "measured uplink": measuredText(line),
      }),
      until === null ? "" : renderFields({ "rests until": `${dateText(until)} UTC`, reason }),
    ]
      .filter((text) => text !== "")
      .join("\n"),
  );
}

/** The best speed that servers measured within a week; a lower bound of the uplink. */
function measuredText(line: MachineVerificationAnswer["line"]): string {
  const { measured_inet_up: up, measured_inet_down: down, measured_count: count } = line;
  if (up === null || down === null) return "not measured within a week";
  return `${speedText(up, down)}, the best of ${count} within a week`;
}

function speedText(up: number, down: number): string {
  return `${Math.round(up)} Mbit/s up, ${Math.round(down)} down`;
}
