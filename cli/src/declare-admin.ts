import { Argument, type Command } from "commander";
import { adminCommand } from "./declare-connection.ts";
import { parseAmount, parseEmail, parseId, parseJsonObject } from "./parse.ts";

const VERDICTS = ["verified", "unverified", "automatic"];

/** Each prints exactly one JSON object on one line, for scripts. */
export function declareAdminCommands(program: Command): void {
  const admin = program.command("admin").description("manage users, credit, keys, disks and machines");

  const user = admin.command("user").description("accounts");
  adminCommand(user, "create", "create an account with an API key")
    .argument("<email>", "e-mail address of the new user", parseEmail)
    .option("--credit <dollars>", "credit to begin with", parseAmount)
    .action(async (email, options) => (await import("./commands/admin/create-user.ts")).createUser(email, options));

  adminCommand(admin, "credit", "add credit to an account")
    .argument("<email>", "e-mail address of the user", parseEmail)
    .argument("<dollars>", "how much", parseAmount)
    .action(async (email, amount, options) =>
      (await import("./commands/admin/add-credit.ts")).addCredit(email, amount, options),
    );

  const key = admin.command("key").description("API keys");
  adminCommand(key, "create", "create an API key for a user; it is shown once")
    .argument("<email>", "e-mail address of the user", parseEmail)
    .option("--permissions <json>", "what it may do; everything that its user may when left out", parseJsonObject)
    .option("--name <text>", "what to call it")
    .action(async (email, options) => (await import("./commands/admin/create-key.ts")).createKey(email, options));

  adminCommand(admin, "verify-machine", "decide by hand whether a machine is verified, and where it stands")
    .argument("<machine>", "id of the machine", parseId)
    .addArgument(new Argument("[verdict]", "automatic: what the rule says").choices(VERDICTS))
    .option("--data-center", "it stands in a data centre that you have seen")
    .option("--no-data-center", "it does not")
    .action(async (id, verdict, options) =>
      (await import("./commands/admin/verify-machine.ts")).verifyMachine(id, verdict, options),
    );

  const disk = admin.command("disk").description("network disks");
  adminCommand(disk, "create", "create a network disk that the user may list for rent")
    .argument("<email>", "e-mail address of its owner", parseEmail)
    .requiredOption("--size <gb>", "its size", parseAmount)
    .action(async (email, options) => (await import("./commands/admin/create-disk.ts")).createDisk(email, options));
}
