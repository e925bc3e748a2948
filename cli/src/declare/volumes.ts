import type { Command } from "commander";
import { serverCommand } from "./connection.ts";
import { parseAmount, parseCount, parseId, parseNumber, parseTime } from "../parse.ts";

const NETWORK = "of network disks, which several machines mount";

const collectIds = (text: string, earlier: readonly number[]) => [...earlier, parseId(text)];

export function declareVolumeCommands(program: Command): void {
  const volume = program.command("volume").description("disk space that outlives instances: search, rent, offer");
  declareRenting(volume);
  serverCommand(volume, "offer", "host: put space of your machines on the market, or change its terms")
    .argument("<machines...>", "ids of the machines", collectIds, [])
    .option("--size <gb>", "GB of each machine", parseAmount)
    .option("--price <dollars>", "price in dollars per GB and month", parseNumber)
    .option("--until <date>", "when the listing ends, such as 2026-12-31", parseTime)
    .action(async (machines, options) => (await import("../commands/volume/offer.ts")).offerVolumes(machines, options));
  serverCommand(volume, "unlist", "host: take space off the market; volumes stay")
    .argument("<offer id>", "id of the volume offer", parseId)
    .option("--network", NETWORK)
    .action(async (id, options) => (await import("../commands/volume/offer.ts")).unlistVolumes(id, options));
}

function declareRenting(volume: Command): void {
  serverCommand(volume, "search", "find space for a volume")
    .argument("[query...]", "conditions, such as 'disk_bw>1000' machine_id=7")
    .option("--network", NETWORK)
    .option("--storage <gb>", "GB that it must have room for", parseAmount)
    .option("--order <fields>", "field to sort by; with - at the end the highest first", "storage_cost")
    .option("--limit <count>", "number of rows", parseCount, 20)
    .action(async (words, options) => (await import("../commands/volume/search.ts")).searchVolumes(words, options));
  serverCommand(volume, "rent", "rent a volume")
    .argument("<offer id>", "from `berth volume search`", parseId)
    .option("--size <gb>", "size in GB; 15 when left out", parseAmount)
    .option("--name <text>", "name: letters, digits, _ and -")
    .option("--network", "the offer is one of `berth volume search --network`")
    .action(async (id, options) => (await import("../commands/volume/rent.ts")).rentVolume(id, options));
  serverCommand(volume, "list", "list your volumes").action(async (options) =>
    (await import("../commands/volume/list.ts")).listVolumes(options),
  );
  serverCommand(volume, "clone", "copy a volume into a new one")
    .argument("<volume>", "id of the volume", parseId)
    .argument("<offer id>", "where to, from `berth volume search`", parseId)
    .option("--size <gb>", "GB of the new volume; the size of the old one when left out", parseAmount)
    .action(async (id, offer, options) =>
      (await import("../commands/volume/clone.ts")).cloneVolume({ id, offer }, options),
    );
  serverCommand(volume, "delete", "delete a volume and its data")
    .argument("<volume>", "id of the volume", parseId)
    .action(async (id, options) => (await import("../commands/volume/delete.ts")).deleteVolume(id, options));
}
