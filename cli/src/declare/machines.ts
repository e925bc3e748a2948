import { Option, type Command } from "commander";
import { serverCommand } from "./connection.ts";
import { declareEarnings } from "./money/earnings.ts";
import { parseAmount, parseCount, parseId, parseNumber, parseTime } from "../parse.ts";

const CATEGORIES = ["power", "internet", "disk", "gpu", "software", "other"];

/** Commands for hosts: listings, maintenance, earnings. */
export function declareMachineCommands(program: Command): void {
  const machine = program.command("machine").description("your machines on the market: prices, maintenance, earnings");
  serverCommand(machine, "list", "list your machines with prices and earnings").action(async (options) =>
    (await import("../commands/machine/list.ts")).listMachines(options),
  );
  machineCommand(machine, "show", "show one of your machines").action(async (id, options) =>
    (await import("../commands/machine/show.ts")).showMachine(id, options),
  );
  declareListing(machine);
  declareDefaultJob(machine);
  declareMaintenance(machine);
  declareUpkeep(machine);
  declareStanding(machine);
}

function declareListing(machine: Command): void {
  machineCommand(machine, "price", "put a machine on the market, or change terms")
    .option("--gpu <dollars>", "on-demand price in dollars per GPU and hour", parseNumber)
    .option("--min-bid <dollars>", "minimum bid in dollars per GPU and hour", parseNumber)
    .option("--disk <dollars>", "price in dollars per GB and month", parseNumber)
    .option("--sent <dollars>", "price in dollars per GB that an instance sends", parseNumber)
    .option("--received <dollars>", "price in dollars per GB that an instance receives", parseNumber)
    .option("--min-gpus <count>", "fewest GPUs of a rental", parseCount)
    .option("--discount <fraction>", "largest discount for prepaying, such as 0.4; 0 for none", parseNumber)
    .option("--until <date>", "when the listing ends, such as 2026-12-31", parseTime)
    .option("--for <time>", "rolling end instead: '3 days', '2 weeks', '1 month'")
    .option("--volume-size <gb>", "GB for rent as volumes; 0 for none", parseNumber)
    .option("--volume-price <dollars>", "price of volumes in dollars per GB and month", parseNumber)
    .action(async (id, options) => (await import("../commands/machine/price.ts")).priceMachine(id, options));
  machineCommand(machine, "min-bid", "set the minimum bid")
    .argument("<dollars>", "dollars per GPU and hour", parseNumber)
    .action(async (id, price, options) =>
      (await import("../commands/machine/min-bid.ts")).setMinBid(id, price, options),
    );
  machineCommand(machine, "unlist", "take a machine off the market").action(async (id, options) =>
    (await import("../commands/machine/unlist.ts")).unlistMachine(id, options),
  );
}

function declareDefaultJob(machine: Command): void {
  const job = machine.command("default-job").description("your background job on GPUs that nobody rents: set, remove");
  machineCommand(job, "set", "run an image on every GPU that is idle")
    .argument("<image>", "container image")
    .argument("[args...]", "its arguments")
    .passThroughOptions()
    .action(async (machine, image, args, options) =>
      (await import("../commands/machine/default-job.ts")).setDefaultJob({ machine, image, args }, options),
    );
  machineCommand(job, "remove", "end the background job").action(async (id, options) =>
    (await import("../commands/machine/default-job.ts")).removeDefaultJob(id, options),
  );
}

function declareMaintenance(machine: Command): void {
  const maintenance = machine.command("maintenance").description("announced maintenance: schedule, cancel, list");
  machineCommand(maintenance, "schedule", "announce a maintenance; nothing is stopped by it")
    .requiredOption("--at <time>", "when it begins, such as 2026-01-31T12:30 (UTC)", parseTime)
    .requiredOption("--hours <count>", "length in hours", parseAmount)
    .addOption(new Option("--category <what>", "kind of work").choices(CATEGORIES))
    .option("--reason <sentence>", "details for renters")
    .action(async (id, options) =>
      (await import("../commands/machine/maintenance.ts")).scheduleMaintenance(id, options),
    );
  machineCommand(maintenance, "cancel", "cancel all maintenances of a machine that are not over").action(
    async (id, options) => (await import("../commands/machine/maintenance.ts")).cancelMaintenance(id, options),
  );
  serverCommand(maintenance, "list", "list maintenances of your machines and of machines you rent on").action(
    async (options) => (await import("../commands/machine/maintenance.ts")).listMaintenances(options),
  );
}

function declareUpkeep(machine: Command): void {
  machineCommand(machine, "cleanup", "delete the data of ended contracts").action(async (id, options) =>
    (await import("../commands/machine/cleanup.ts")).cleanUpMachine(id, options),
  );
  machineCommand(machine, "delete", "remove a machine on which nobody else rents").action(async (id, options) =>
    (await import("../commands/machine/delete.ts")).deleteMachine(id, options),
  );
  declareEarnings(machine, "show payments of renters, by machine or by day");
}

function declareStanding(machine: Command): void {
  machineCommand(machine, "verification", "show the verification of a machine and missing checks").action(
    async (id, options) => (await import("../commands/machine/verification.ts")).showVerification(id, options),
  );
  machineCommand(machine, "reliability", "show the reliability of a machine, and the facts behind it").action(
    async (id, options) => (await import("../commands/machine/reliability.ts")).showReliability(id, options),
  );
  machineCommand(machine, "reports", "list problem reports of renters about a machine").action(async (id, options) =>
    (await import("../commands/machine/reports.ts")).listReports(id, options),
  );
  machineCommand(machine, "report", "report a problem of a machine that you rent on")
    .argument("<problem>", "in a few words, such as 'slow disk'")
    .option("--message <text>", "details for its host")
    .action(async (id, problem, options) =>
      (await import("../commands/machine/reports.ts")).reportMachine(id, problem, options),
    );
}

function machineCommand(parent: Command, name: string, summary: string): Command {
  return serverCommand(parent, name, summary).argument("<machine>", "id of the machine", parseId);
}
