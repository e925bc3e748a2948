import { Argument, Option, type Command } from "commander";
import { groupOf } from "../billing-group.ts";
import { adminCommand, jsonOption } from "./connection.ts";
import { parseCount, parseId, parseTime } from "../parse.ts";

const found = () => import("../commands/admin/found/users.ts");
const service = () => import("../commands/admin/service.ts");

/** Commands by which administrators see the market and run the service. They print tables, and with `--json` the answer. */
export function declareOperateCommands(program: Command): void {
  const admin = groupOf(program, "admin", "manage users, credit, keys, disks and machines");
  declareFound(admin);
  declarePause(admin);
  declareAnnouncements(admin);
  report(admin, "settings", "show settings in force, and where they come from")
    .argument("[text]", "only settings whose name has it")
    .option("--set", "only those that are not the default")
    .action(async (text, options) => (await service()).listSettings(text, options));
  report(admin, "loops", "show background loops of the server, late ones first").action(async (options) =>
    (await service()).listLoops(options),
  );
}

function report(parent: Command, name: string, summary: string): Command {
  return adminCommand(parent, name, summary).addOption(jsonOption());
}

function list(parent: Command, name: string, summary: string): Command {
  return report(parent, name, summary)
    .argument("[text]", "an id, or a part of a name, an address or a label")
    .option("--limit <count>", "rows to show", parseCount)
    .option("--after <token>", "the next page, as the last one names it");
}

function declareFound(admin: Command): void {
  const user = groupOf(admin, "user", "accounts");
  list(user, "list", "find accounts of people and teams")
    .option("--frozen", "only frozen ones")
    .option("--admins", "only administrators")
    .option("--teams", "only teams")
    .action(async (text, options) => (await found()).listUsers(text, options));
  report(user, "show", "show the record of an account")
    .argument("<user>", "id of the account", parseId)
    .action(async (id, options) => (await found()).showUser(id, options));
  list(admin, "machines", "find machines of all hosts")
    .option("--host <id>", "only machines of this host", parseId)
    .option("--gpu <model>", "only machines with these GPUs")
    .option("--offline", "only machines whose agent is not connected")
    .option("--broken", "only machines with a sick or missing GPU")
    .option("--flagged", "only machines with an open flag")
    .action(async (text, options) => (await import("../commands/admin/found/machines.ts")).findMachines(text, options));
  list(admin, "instances", "find instances of all renters")
    .option("--renter <id>", "only instances of this account", parseId)
    .option("--machine <id>", "only instances on this machine", parseId)
    .option("--ended", "those that have ended instead")
    .action(async (text, options) =>
      (await import("../commands/admin/found/instances.ts")).findInstances(text, options),
    );
  report(admin, "search", "find people, machines, instances, volumes, documents and payouts")
    .argument("<text>", "an id, or a part of a name, an address, a label or a number")
    .action(async (text, options) => (await import("../commands/admin/found/search.ts")).searchAll(text, options));
}

function declarePause(admin: Command): void {
  report(admin, "pause", "pause the service: nothing is rented or changed, what runs goes on")
    .argument("<why>", "a sentence that everybody reads")
    .addOption(
      new Option("--minutes <count>", "minutes until it ends by itself; 30 by default")
        .argParser(parseCount)
        .conflicts("until"),
    )
    .option("--from <time>", "time at which it begins; now by default", parseTime)
    .option("--until <time>", "time at which it ends by itself, such as 2026-01-31T12:30 (UTC)", parseTime)
    .action(async (why, options) => (await service()).pauseService(why, options));
  report(admin, "resume", "end the pause of the service").action(async (options) =>
    (await service()).resumeService(options),
  );
  report(admin, "pauses", "list pauses of the service").action(async (options) =>
    (await service()).listPauses(options),
  );
}

function declareAnnouncements(admin: Command): void {
  report(admin, "announce", "announce something to everyone, to hosts or to renters")
    .argument("<title>", "its title")
    .argument("<message>", "its message, as plain text")
    .option("--warning", "something that people should not overlook")
    .addOption(new Option("--to <audience>", "people who see it").choices(["everyone", "hosts", "renters"]))
    .option("--from <time>", "time from which it is shown; now by default", parseTime)
    .option("--until <time>", "time at which it ends; no end by default", parseTime)
    .action(async (title, message, options) => (await service()).announce(title, message, options));
  report(admin, "announcements", "list announcements of all times").action(async (options) =>
    (await service()).listAnnouncements(options),
  );
  report(admin, "withdraw", "remove an announcement")
    .addArgument(new Argument("<announcement>", "id of the announcement").argParser(parseId))
    .action(async (id, options) => (await service()).withdraw(id, options));
}
