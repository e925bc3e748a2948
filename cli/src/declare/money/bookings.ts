import type { Command } from "commander";
import { groupOf } from "../../billing-group.ts";
import { adminCommand } from "../connection.ts";
import { parseAmount } from "../../parse.ts";

/** Entries that administrators book by hand. */
export function declareBookingCommands(program: Command): void {
  const admin = groupOf(program, "admin", "manage users, credit, keys, disks and machines");
  adminCommand(admin, "take-back", "take earnings back from a host, below zero if paid out")
    .argument("<host>", "e-mail address or id of the host")
    .argument("<dollars>", "amount in dollars, at most what the host has earned", parseAmount)
    .requiredOption("--reason <text>", "why; it is on the host's statements")
    .requiredOption("--reference <text>", "name of the case; an entry is booked once for each case")
    .action(async (host, amount, options) =>
      (await import("../../commands/admin/book.ts")).takeBack(host, amount, options),
    );
  adminCommand(admin, "correct", "correct the credit or earnings of an account")
    .argument("<user>", "e-mail address or id of the account")
    .argument("<dollars>", "amount in dollars", parseAmount)
    .option("--charge", "take the amount from the account")
    .option("--earnings", "correct the earnings instead of the credit")
    .requiredOption("--reason <text>", "why; it is on the account's statements")
    .requiredOption("--reference <text>", "name of the case; an entry is booked once for each case")
    .action(async (user, amount, options) =>
      (await import("../../commands/admin/book.ts")).correct(user, amount, options),
    );
}
