import type { Command } from "commander";
import { adminCommand, CONNECTION } from "./declare-connection.ts";

/** Whether the books are right. */
export function declareAuditCommands(program: Command): void {
  adminCommand(program, "audit", "recompute the books from facts, show what differs")
    .option("--full", "read everything there ever was, and verify what earlier audits sealed")
    .addHelpText("after", HELP)
    .addOption(jsonOption(program))
    .action(async (options) => (await import("./commands/audit/run.ts")).runAudit(options));
}

const HELP = `
Each check is a line: how many rows were looked at, and how many of them differ. The rows that differ follow, the first
fifty of each check, and the exit code is 1. Without --full, what came before the last seal is trusted. See docs/audit.md.`;

function jsonOption(program: Command) {
  return program.createOption("--json", "print the answer as JSON").helpGroup(CONNECTION);
}
