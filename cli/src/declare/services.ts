import type { Command } from "commander";
import { serverCommand } from "./connection.ts";
import { parseAmount, parseId } from "../parse.ts";

export function declareServiceCommands(program: Command): void {
  const disk = program.command("disk").description("network disks");
  serverCommand(disk, "list-for-rent", "offer a network disk to others")
    .argument("<id>", "id of the disk", parseId)
    .requiredOption("--price <dollars>", "price in dollars per GB and month", parseAmount)
    .requiredOption("--size <gb>", "GB to offer", parseAmount)
    .action(async (id, options) => (await import("../commands/disk/list-for-rent.ts")).listDiskForRent(id, options));
}
