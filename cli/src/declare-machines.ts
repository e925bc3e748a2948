import { Option, type Command } from "commander";
import { serverCommand } from "./declare-connection.ts";
import { parseAmount, parseCount, parseId, parseNumber, parseTime } from "./parse.ts";

const CATEGORIES = ["power", "internet", "disk", "gpu", "software", "other"];

/** Commands for hosts: listings, maintenance, earnings. */
export function declareMachineCommands(program: Command): void {
  const machine = program.command("machine").description("your machines on the market: prices, maintenance, earnings");
  serverCommand(machine, "list", "list your machines, what they cost and earn").action(async (options) =>
    (await import("./commands/machine/list.ts")).listMachines(options),
  );
  machineCommand(machine, "show", "show one of your machines").action(async (id, options) =>
    (await import("./commands/machine/show.ts")).showMachine(id, options),
  );
  declareListing(machine);
  declareDefaultJob(machine);
  declareMaintenance(machine);
  declareUpkeep(machine);
  declareStanding(machine);
}

function declareListing(machine: Command): void {
  machineCommand(machine, "price", "put a machine on the market, or change terms")
    .option("--gpu <dollars>", "per GPU and hour, on demand", parseNumber)
    .option("--min-bid <dollars>", "what bids must reach, per GPU and hour", parseNumber)
    .option("--disk <dollars>", "per GB and month", parseNumber)
    .option("--sent <dollars>", "per GB that an instance sends", parseNumber)
    .option("--received <dollars>", "per GB that it receives", parseNumber)
    .option("--min-gpus <count>", "fewest GPUs of a rental", parseCount)
    .option("--discount <fraction>", "largest discount for prepaying, such as 0.4; 0 for none", parseNumber)
    .option("--until <date>", "when the listing ends, such as 2026-12-31", parseTime)
    .option("--for <time>", "instead: '3 days', '2 weeks', '1 month'; the end moves on every day")
    .option("--volume-size <gb>", "how much is for rent as volumes; 0 for none", parseNumber)
    .option("--volume-price <dollars>", "of those, per GB and month", parseNumber)
    .action(async (id, options) => (await import("./commands/machine/price.ts")).priceMachine(id, options));
  machineCommand(machine, "min-bid", "set what bids must reach")
    .argument("<dollars>", "per GPU and hour", parseNumber)
    .action(async (id, price, options) =>
      (await import("./commands/machine/min-bid.ts")).setMinBid(id, price, options),
    );
  machineCommand(machine, "unlist", "take a machine off the market").action(async (id, options) =>
    (await import("./commands/machine/unlist.ts")).unlistMachine(id, options),
  );
}

function declareDefaultJob(machine: Command): void {
  const job = machine.command("default-job").description("what runs on GPUs that nobody rents: set, remove");
  machineCommand(job, "set", "run an image on every GPU that is idle")
    .argument("<image>", "container image")
    .argument("[args...]", "its arguments")
    .passThroughOptions()
    .action(async (machine, image, args, options) =>
      (await import("./commands/machine/default-job.ts")).setDefaultJob({ machine, image, args }, options),
    );
  machineCommand(job, "remove", "end it").action(async (id, options) =>
    (await import("./commands/machine/default-job.ts")).removeDefaultJob(id, options),
  );
}

function declareMaintenance(machine: Command): void {
  const maintenance = machine.command("maintenance").description("announce when it is down: schedule, cancel, list");
  machineCommand(maintenance, "schedule", "announce a maintenance; nothing is stopped by it")
    .requiredOption("--at <time>", "when it begins, such as 2026-01-31T12:30 (UTC)", parseTime)
    .requiredOption("--hours <count>", "how long it takes", parseAmount)
    .addOption(new Option("--category <what>", "what is worked on").choices(CATEGORIES))
    .option("--reason <sentence>", "what renters should know")
    .action(async (id, options) =>
      (await import("./commands/machine/maintenance.ts")).scheduleMaintenance(id, options),
    );
  machineCommand(maintenance, "cancel", "call off all that are not over").action(async (id, options) =>
    (await import("./commands/machine/maintenance.ts")).cancelMaintenance(id, options),
  );
  serverCommand(maintenance, "list", "list those of your machines, and of those you rent on").action(async (options) =>
    (await import("./commands/machine/maintenance.ts")).listMaintenances(options),
  );
}

function declareUpkeep(machine: Command): void {
  machineCommand(machine, "cleanup", "delete what ended contracts left behind").action(async (id, options) =>
    (await import("./commands/machine/cleanup.ts")).cleanUpMachine(id, options),
  );
  machineCommand(machine, "delete", "remove a machine on which nobody else rents").action(async (id, options) =>
    (await import("./commands/machine/delete.ts")).deleteMachine(id, options),
  );
  serverCommand(machine, "earnings", "show what renters paid, by machine or by day")
    .argument("[machine]", "id of the machine; all when left out", parseId)
    .option("--from <date>", "first day, such as 2026-01-31", parseTime)
    .option("--to <date>", "last day", parseTime)
    .option("--days <count>", "how many days up to the last; 30 when nothing is said", parseCount)
    .option("--by-day", "a line for each day, in place of each machine")
    .action(async (id, options) => (await import("./commands/machine/earnings.ts")).showEarnings(id, options));
}

function declareStanding(machine: Command): void {
  machineCommand(machine, "verification", "show whether it is verified, and what is missing").action(
    async (id, options) => (await import("./commands/machine/verification.ts")).showVerification(id, options),
  );
  machineCommand(machine, "reliability", "show its reliability and what it follows from").action(async (id, options) =>
    (await import("./commands/machine/reliability.ts")).showReliability(id, options),
  );
  machineCommand(machine, "reports", "show what renters reported of your machine").action(async (id, options) =>
    (await import("./commands/machine/reports.ts")).listReports(id, options),
  );
  machineCommand(machine, "report", "tell a host what is wrong where you rent")
    .argument("<problem>", "in a few words, such as 'slow disk'")
    .option("--message <text>", "what its host should know")
    .action(async (id, problem, options) =>
      (await import("./commands/machine/reports.ts")).reportMachine(id, problem, options),
    );
}

function machineCommand(parent: Command, name: string, summary: string): Command {
  return serverCommand(parent, name, summary).argument("<machine>", "id of the machine", parseId);
}
