import { Option, type Command } from "commander";
import { dataDirOption } from "./connection.ts";
import { parseCount, parseGpus, parsePort } from "../parse.ts";

export function declareServerCommands(program: Command): void {
  program
    .command("up")
    .summary("start the service on this machine")
    .description(
      "Starts the service: database, API, and an agent that offers this machine. It stays in the foreground; Ctrl-C stops it.",
    )
    .addOption(new Option("--port <number>", "port of the API").env("BERTH_PORT").default(8080).argParser(parsePort))
    .addOption(new Option("--host <address>", "address to listen on").env("BERTH_HOST").default("127.0.0.1"))
    .addOption(dataDirOption())
    .addOption(
      new Option("--simulate <hosts>", "simulated hosts with GPUs instead of this machine")
        .env("BERTH_SIMULATE")
        .argParser(parseCount),
    )
    .option("--no-agent", "offer no machine at all")
    .option("--no-console", "build and serve no web console")
    .option("--new-admin-key", "make a new key for the administrator; the earlier one stops working")
    .addOption(
      new Option("--declare-gpus <list>", "pretend that this machine has GPUs, such as 'RTX 4090:2' (for development)")
        .env("BERTH_DECLARE_GPUS")
        .argParser(parseGpus),
    )
    .action(async (options) => (await import("../commands/server/up.ts")).up(options));
}
