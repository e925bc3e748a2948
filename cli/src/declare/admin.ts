import { Argument, type Command } from "commander";
import { adminCommand } from "./connection.ts";
import { parseAmount, parseEmail, parseId, parseJsonObject } from "../parse.ts";

const VERDICTS = ["verified", "unverified", "automatic"];

/** Each prints exactly one JSON object on one line, for scripts. */
export function declareAdminCommands(program: Command): void {
  const admin = program.command("admin").description("manage users, credit, keys, disks and machines");

  declareEntrance(admin);

  adminCommand(admin, "credit", "add credit to an account")
    .argument("<email>", "e-mail address of the user", parseEmail)
    .argument("<dollars>", "amount in dollars", parseAmount)
    .option("--paid-by <text>", "how the user paid for it, such as a wire transfer: the user gets a receipt")
    .option("--reason <text>", "purpose, which the user's invoice shows")
    .action(async (email, amount, options) =>
      (await import("../commands/admin/add-credit.ts")).addCredit(email, amount, options),
    );

  adminCommand(admin, "prove-email", "confirm that an e-mail address belongs to an account")
    .argument("<user>", "id of the account", parseId)
    .argument("<email>", "the address that it claims", parseEmail)
    .action(async (id, email, options) =>
      (await import("../commands/admin/prove-email.ts")).proveEmail(id, email, options),
    );

  const key = admin.command("key").description("API keys");
  adminCommand(key, "create", "create an API key for a user; it is shown once")
    .argument("<email>", "e-mail address of the user", parseEmail)
    .option("--permissions <json>", "permission document; all rights of its user when left out", parseJsonObject)
    .option("--name <text>", "name of the key")
    .action(async (email, options) => (await import("../commands/admin/create-key.ts")).createKey(email, options));

  adminCommand(admin, "verify-machine", "verify a machine by hand, or place it in a data centre")
    .argument("<machine>", "id of the machine", parseId)
    .addArgument(new Argument("[verdict]", "automatic gives the decision back to the rule").choices(VERDICTS))
    .option("--data-center", "the machine is in a data centre that you have seen")
    .option("--no-data-center", "the machine is in no data centre")
    .action(async (id, verdict, options) =>
      (await import("../commands/admin/verify-machine.ts")).verifyMachine(id, verdict, options),
    );

  adminCommand(admin, "back-up-machine", "make backups of all that is on a machine")
    .argument("<machine>", "id of the machine", parseId)
    .action(async (id, options) => (await import("../commands/admin/back-up-machine.ts")).backUpMachine(id, options));

  adminCommand(admin, "flags", "list flags: contradictions between hosts and the server's facts")
    .option("--all", "show cleared flags as well")
    .action(async (options) => (await import("../commands/admin/flags.ts")).listFlags(options));
  adminCommand(admin, "clear-flag", "clear a flag of a host, so that it no longer holds its payouts")
    .argument("<flag>", "id of the flag", parseId)
    .requiredOption("--reason <text>", "why; the host reads it")
    .action(async (id, options) => (await import("../commands/admin/clear-flag.ts")).clearFlag(id, options));

  declareFreezes(admin);

  adminCommand(admin, "documents", "list the invoices, receipts, statements and credit notes of all accounts")
    .requiredOption("--month <month>", "the month in which they were issued, such as 2026-03")
    .option("--kind <kind>", "only these: invoice, receipt, statement, credit_note")
    .option("--output <file>", "write a table (CSV) for a spreadsheet to this file")
    .action(async (options) => (await import("../commands/admin/documents.ts")).listDocuments(options));

  const disk = admin.command("disk").description("network disks");
  adminCommand(disk, "create", "create a network disk that the user may list for rent")
    .argument("<email>", "e-mail address of its owner", parseEmail)
    .requiredOption("--size <gb>", "size in GB", parseAmount)
    .action(async (email, options) => (await import("../commands/admin/create-disk.ts")).createDisk(email, options));
}

function declareFreezes(admin: Command): void {
  adminCommand(admin, "freeze", "freeze an account: its instances stop with their data kept, and it starts nothing")
    .argument("<user>", "e-mail address or id of the account")
    .requiredOption("--reason <text>", "why; the account's owner reads it")
    .action(async (user, options) => (await import("../commands/admin/freeze.ts")).freeze(user, options));
  adminCommand(admin, "freezes", "list the open freezes of accounts")
    .option("--all", "show lifted freezes as well")
    .action(async (options) => (await import("../commands/admin/freeze.ts")).listFreezes(options));
  adminCommand(admin, "unfreeze", "lift a freeze; stopped instances stay stopped")
    .argument("<freeze>", "id of the freeze, from `berth admin freezes`", parseId)
    .requiredOption("--reason <text>", "why; the account's owner reads it")
    .action(async (id, options) => (await import("../commands/admin/freeze.ts")).unfreeze(id, options));
}

/** Accounts, and the links that let people in. */
function declareEntrance(admin: Command): void {
  const user = admin.command("user").description("accounts");
  adminCommand(user, "create", "create an account with an API key")
    .argument("<email>", "e-mail address of the new user", parseEmail)
    .option("--credit <dollars>", "credit in dollars to begin with", parseAmount)
    .action(async (email, options) => (await import("../commands/admin/create-user.ts")).createUser(email, options));

  adminCommand(admin, "sign-in-link", "make a link that signs you, or another user, in to the console once")
    .argument("[user]", "id of the account; your own when left out", parseId)
    .action(async (id, options) => (await import("../commands/admin/sign-in-link.ts")).makeSignInLink(id, options));
}
