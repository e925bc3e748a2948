import { Option, type Command } from "commander";
import { parseScope } from "../../commands/cap/scope-text.ts";
import { serverCommand } from "../connection.ts";
import { parseId, parseNumber } from "../../parse.ts";

export function declareCapCommands(program: Command): void {
  const cap = program.command("cap").description("limit spending per day, month or in total: set, list, remove");
  serverCommand(cap, "set", "limit the spending of the account, a key, an endpoint group or an instance")
    .argument("<scope>", "account, key:ID, endpoint:ID or instance:ID", parseScope)
    .argument("<dollars>", "limit in dollars; 0 stops all instances within the scope", parseNumber)
    .addOption(
      new Option("--per <period>", "day and month begin at midnight UTC; total never ends")
        .choices(["day", "month", "total"])
        .makeOptionMandatory(),
    )
    .action(async (scope, limit, options) => (await import("../../commands/cap/set.ts")).setCap(scope, limit, options));
  serverCommand(cap, "list", "list all caps and their room").action(async (options) =>
    (await import("../../commands/cap/list.ts")).listCaps(options),
  );
  serverCommand(cap, "remove", "remove a cap")
    .argument("<id>", "from `berth cap list`", parseId)
    .action(async (id, options) => (await import("../../commands/cap/remove.ts")).removeCap(id, options));
}
