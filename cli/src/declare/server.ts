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
  program
    .command("migrate")
    .summary("bring an external database to the schema of this version")
    .description(
      "Brings the database of DATABASE_URL to the schema of this version, while older servers serve on. `berth up` does it by itself, unless BERTH_MIGRATE is 0.",
    )
    .option("--check", "apply nothing; list what would be applied, and exit with 1 when there is any")
    .action(async (options) => (await import("../commands/server/migrate.ts")).migrate(options));
  program
    .command("backup")
    .summary("back up the embedded database, while it is served or not")
    .description(
      "Backs up the embedded database into one file, while the server runs or not, and proves that it can be restored: a copy is started and audited.",
    )
    .argument("[file]", "file to make; berth-backup-TIME.tar.gz in this folder without one")
    .addOption(dataDirOption())
    .option("--unverified", "leave out the restore and the audit of a copy")
    .action(async (file, options) => (await import("../commands/server/backup.ts")).backup(file, options));
  program
    .command("restore")
    .summary("put the database of a backup into a data directory")
    .description(
      "Puts the database of a backup into a data directory and audits it. No server may run there. With DATABASE_URL and --external it says that PostgreSQL's own tools have restored that database.",
    )
    .argument("[file]", "file that `berth backup` made")
    .addOption(dataDirOption())
    .option("--replace", "keep aside a database that the data directory has already")
    .option("--external", "the external database of DATABASE_URL was restored: prepare it to be served again")
    .action(async (file, options) => (await import("../commands/server/backup.ts")).restore(file, options));
}
