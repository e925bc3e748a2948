import type { Command } from "commander";
import { groupOf } from "./billing-group.ts";
import { adminCommand } from "./declare-connection.ts";
import { parseAmount } from "./parse.ts";

/** Entries that administrators book by hand. */
export function declareBookingCommands(program: Command): void {
  const admin = groupOf(program, "admin", "manage users, credit, keys, disks and machines");
  adminCommand(admin, "take-back", "take earnings back from a host, below zero where they were paid out")
    .argument("<host>", "e-mail address or id of the host")
    .argument("<dollars>", "how much; at most what the host has earned", parseAmount)
    .requiredOption("--reason <text>", "why; it is on the host's statements")
    .requiredOption("--reference <text>", "names the case: one that is booked already is not booked again")
    .action(async (host, amount, options) =>
      (await import("./commands/admin/book.ts")).takeBack(host, amount, options),
    );
  adminCommand(admin, "correct", "bring money to the credit of an account, or take it away, as a correction")
    .argument("<user>", "e-mail address or id of the account")
    .argument("<dollars>", "how much", parseAmount)
    .option("--charge", "take it away from the account")
    .option("--earnings", "correct what it has earned as a host, in place of its credit")
    .requiredOption("--reason <text>", "why; it is on the account's statements")
    .requiredOption("--reference <text>", "names the case: one that is booked already is not booked again")
    .action(async (user, amount, options) => (await import("./commands/admin/book.ts")).correct(user, amount, options));
}
