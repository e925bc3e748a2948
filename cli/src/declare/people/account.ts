import type { Command } from "commander";
import { serverCommand } from "../connection.ts";
import { parseAmount } from "../../parse.ts";

export function declareAccountCommands(program: Command): void {
  serverCommand(program, "balance", "show how much credit you have").action(async (options) =>
    (await import("../../commands/account/balance.ts")).showBalance(options),
  );
  serverCommand(program, "transfer", "give credit to another user")
    .argument("<recipient>", "e-mail address or user id")
    .argument("<dollars>", "amount in dollars", parseAmount)
    .option("--from <subaccount>", "take it from this subaccount of yours: e-mail address or user id")
    .action(async (recipient, amount, options) =>
      (await import("../../commands/account/transfer.ts")).transferCredit(recipient, amount, options),
    );
  serverCommand(program, "invoices", "list payments, transfers and charges")
    .option("--charges", "show the charges of instances and disks as well")
    .option("--from <date>", "first day, such as 2026-01-31")
    .option("--to <date>", "last day")
    .action(async (options) => (await import("../../commands/account/invoices.ts")).listInvoices(options));

  const email = program.command("email").description("prove that your account's address is yours");
  serverCommand(email, "prove", "have a token mailed to your address").action(async (options) =>
    (await import("../../commands/account/email.ts")).requestProof(options),
  );
  serverCommand(email, "confirm", "prove your address with the token from the mail")
    .argument("<token>", "token from the mail")
    .action(async (token, options) => (await import("../../commands/account/email.ts")).confirmEmail(token, options));
}
