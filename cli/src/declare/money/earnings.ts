import type { Command } from "commander";
import { serverCommand } from "../connection.ts";
import { parseCount, parseId, parseTime } from "../../parse.ts";

/** The command `earnings`, which stands with the machines and with the money. */
export function declareEarnings(group: Command, summary: string): void {
  serverCommand(group, "earnings", summary)
    .argument("[machine]", "id of the machine; all when left out", parseId)
    .option("--from <date>", "first day, such as 2026-01-31", parseTime)
    .option("--to <date>", "last day", parseTime)
    .option("--days <count>", "number of days up to the last; 30 when left out", parseCount)
    .option("--by-day", "show a row for each day instead of each machine")
    .action(async (id, options) => (await import("../../commands/machine/earnings.ts")).showEarnings(id, options));
}
