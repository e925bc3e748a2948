import type { Command } from "commander";
import { serverCommand } from "./declare-connection.ts";
import { parseAmount, parseId, parseNumber } from "./parse.ts";

export function declareServiceCommands(program: Command): void {
  const endpoint = program.command("endpoint").description("endpoint groups: workers that scale by themselves");
  serverCommand(endpoint, "create", "create an endpoint group")
    .option("--name <text>", "what to call it")
    .option("--min-load <number>", "load to be ready for at any time", parseNumber)
    .option("--target-util <fraction>", "share of its workers' capacity to use", parseNumber)
    .option("--cold-mult <number>", "how far capacity may grow beyond the present load", parseNumber)
    .option("--cold-workers <count>", "stopped workers kept ready", parseNumber)
    .option("--max-workers <count>", "workers at most", parseNumber)
    .action(async (options) => (await import("./commands/endpoint/create.ts")).createEndpoint(options));
  serverCommand(endpoint, "delete", "delete an endpoint group with its workers")
    .argument("<id>", "id of the endpoint group", parseId)
    .action(async (id, options) => (await import("./commands/endpoint/delete.ts")).deleteEndpoint(id, options));

  const disk = program.command("disk").description("network disks");
  serverCommand(disk, "list-for-rent", "offer a network disk to others")
    .argument("<id>", "id of the disk", parseId)
    .requiredOption("--price <dollars>", "per GB and month", parseAmount)
    .requiredOption("--size <gb>", "how much of it", parseAmount)
    .action(async (id, options) => (await import("./commands/disk/list-for-rent.ts")).listDiskForRent(id, options));
}
