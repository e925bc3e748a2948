import type { Command } from "commander";
import { adminCommand, jsonOption } from "./connection.ts";
import { parseNumber } from "../parse.ts";

export function declareAuditCommands(program: Command): void {
  const audit = adminCommand(program, "audit", "check the books: recompute them, show differences")
    .option("--full", "read everything, and verify the checkpoints of earlier audits")
    .option("--against <file>", "an earlier export of the facts, which today's must go on from")
    .addHelpText("after", HELP)
    .addOption(jsonOption())
    .action(async (options) => (await import("../commands/audit/run.ts")).runAudit(options));
  // Options after a subcommand belong to it, also where `audit` has one of the same name.
  audit.enablePositionalOptions();
  adminCommand(audit, "export", "write the signed facts of who moved money, a line of JSON for each link")
    .option("--after <link>", "only links after this number", parseNumber)
    .action(async (options) => (await import("../commands/audit/export.ts")).exportFacts(options));
  audit
    .command("verify")
    .description("check an export by itself: its hashes, and that the server signed it")
    .argument("<file>", "file that `berth audit export` wrote")
    .option("--public-key <key>", "the server's, as an earlier export or the server's log shows it")
    .action(async (file, options) => (await import("../commands/audit/verify.ts")).verifyExport(file, options));
}

const HELP = `
Each check is a line: how many rows were looked at, and how many of them differ. The rows that differ follow, the first
fifty of each check, and the exit code is 1. Without --full the audit trusts the last checkpoint. See docs/audit.md.`;
