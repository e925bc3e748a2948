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
  declareActs(admin);
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

const REASON = ["--reason <text>", "the reason, which the people concerned read"] as const;

function declareActs(admin: Command): void {
  const user = groupOf(admin, "user", "accounts");
  const acts = () => import("../commands/admin/acts.ts");
  report(user, "export", "take a copy of everything that is known of an account, for its person")
    .argument("<user>", "id of the account", parseId)
    .requiredOption("--reason <text>", "the reason, for both audit logs")
    .requiredOption("--output <file>", "the file to write")
    .action(async (id, options) => (await acts()).exportUser(id, options));
  report(user, "delete", "delete the account of a person, with all data that no law keeps")
    .argument("<user>", "id of the account", parseId)
    .requiredOption("--reason <text>", "the reason, for the audit log")
    .action(async (id, options) => (await acts()).deleteUser(id, options));
  report(admin, "stop-instance", "stop an instance of any renter, with its data kept")
    .argument("<instance>", "id of the instance", parseId)
    .requiredOption(...REASON)
    .action(async (id, options) => (await acts()).stopInstance(id, options));
  report(admin, "unlist-machine", "take a machine of any host off the market; what is rented there goes on")
    .argument("<machine>", "id of the machine", parseId)
    .requiredOption(...REASON)
    .action(async (id, options) => (await acts()).unlistMachine(id, options));
  report(admin, "ask-to-move", "ask everybody who rents on a machine to move until a time")
    .argument("<machine>", "id of the machine", parseId)
    .requiredOption("--until <time>", "such as 2026-01-31T12:30 (UTC)", parseTime)
    .requiredOption(...REASON)
    .action(async (id, options) => (await acts()).askToMove(id, options));
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
