import { Argument, Option, type Command } from "commander";
import { billingGroup, groupOf } from "../../billing-group.ts";
import { adminCommand, serverCommand } from "../connection.ts";
import { parseAmount, parseId, parseNumber } from "../../parse.ts";

const PAYOUT_METHODS = ["stripe", "wise", "paypal", "bank"];
const PAYOUT_STATES = ["pending", "sending", "paid", "failed"];

/** Card payments. */
export function declarePaymentCommands(program: Command): void {
  const billing = billingGroup(program);
  serverCommand(billing, "top-up", "add credit by card: prints the page to pay on")
    .argument("<dollars>", "amount in dollars, at least 5", parseAmount)
    .option("--save-card", "keep the card for automatic payments")
    .action(async (amount, options) => (await import("../../commands/payment/top-up.ts")).topUp(amount, options));
  serverCommand(billing, "payments", "list your card payments and their states").action(async (options) =>
    (await import("../../commands/payment/list.ts")).listPayments(options),
  );
  serverCommand(billing, "cards", "list your saved cards").action(async (options) =>
    (await import("../../commands/payment/cards.ts")).listCards(options),
  );
  serverCommand(billing, "add-card", "save a card: prints the page to leave it on").action(async (options) =>
    (await import("../../commands/payment/cards.ts")).addCard(options),
  );
  serverCommand(billing, "use-card", "choose the card that is charged automatically")
    .argument("<id>", "id of the card, from `berth billing cards`", parseId)
    .action(async (id, options) => (await import("../../commands/payment/cards.ts")).useCard(id, options));
  serverCommand(billing, "remove-card", "remove a saved card")
    .argument("<id>", "id of the card, from `berth billing cards`", parseId)
    .action(async (id, options) => (await import("../../commands/payment/cards.ts")).removeCard(id, options));
  serverCommand(billing, "autobill", "show or change when your card is charged automatically")
    .addOption(new Option("--on", "charge the card automatically").conflicts("off"))
    .option("--off", "never charge it automatically")
    .option("--threshold <dollars>", "credit in dollars at which the card is charged", parseNumber)
    .option("--amount <dollars>", "dollars to charge each time, at least 5", parseAmount)
    .action(async (options) => (await import("../../commands/payment/autobill.ts")).autobill(options));
}

/** Payouts to hosts. */
export function declarePayoutCommands(program: Command): void {
  const host = groupOf(program, "host", "your joined machines, join tokens and payouts");
  serverCommand(host, "payouts", "list your payouts and waiting earnings").action(async (options) =>
    (await import("../../commands/payout/list.ts")).listPayouts(options),
  );
  serverCommand(host, "payout-method", "show or set where your payouts go")
    .addArgument(new Argument("[method]", "way of payment").choices(PAYOUT_METHODS))
    .option("--account-id <id>", "stripe: your connected account")
    .option("--email <address>", "wise, paypal: the address of your account there")
    .option("--account-holder <name>", "bank: holder of the account")
    .option("--country <code>", "bank: the two letters of its country")
    .option("--iban <iban>", "bank: the account")
    .option("--bic <bic>", "bank: its BIC")
    .option("--account-number <number>", "bank: the account, where there is no IBAN")
    .option("--routing-number <number>", "bank: where there is no IBAN")
    .action(async (method, options) => (await import("../../commands/payout/method.ts")).payoutMethod(method, options));

  const admin = groupOf(program, "admin", "manage users, credit, keys, disks and machines");
  adminCommand(admin, "payouts", "list payouts to hosts")
    .addOption(new Option("--state <state>", "only these").choices(PAYOUT_STATES))
    .action(async (options) => (await import("../../commands/payout/settle.ts")).listAllPayouts(options));
  adminCommand(admin, "payout", "show a payout with all details of its destination")
    .argument("<id>", "id of the payout", parseId)
    .action(async (id, options) => (await import("../../commands/payout/settle.ts")).showPayout(id, options));
  adminCommand(admin, "payout-paid", "record that you have sent a payout")
    .argument("<id>", "id of the payout", parseId)
    .requiredOption("--reference <text>", "reference of the payment where you made it")
    .action(async (id, options) => (await import("../../commands/payout/settle.ts")).settlePayout(id, "paid", options));
  adminCommand(admin, "payout-failed", "record that a payout failed or came back")
    .argument("<id>", "id of the payout", parseId)
    .requiredOption("--reason <text>", "why; the host reads it")
    .action(async (id, options) =>
      (await import("../../commands/payout/settle.ts")).settlePayout(id, "failed", options),
    );
  adminCommand(admin, "release-earnings", "let a host be paid for what it earned from granted credit")
    .argument("<user>", "e-mail address or id of the host")
    .argument("[dollars]", "dollars; all that waits when left out", parseAmount)
    .requiredOption("--reason <text>", "why; the host reads it")
    .action(async (user, amount, options) =>
      (await import("../../commands/payout/release.ts")).releaseEarnings(user, amount, options),
    );
  adminCommand(admin, "payout-holds", "list the open holds on payouts").action(async (options) =>
    (await import("../../commands/payout/hold.ts")).listHolds(options),
  );
  adminCommand(admin, "hold-payout", "hold all payouts of a host until you release the hold")
    .argument("<host>", "e-mail address or id of the host")
    .requiredOption("--reason <text>", "why; the host reads it")
    .action(async (host, options) => (await import("../../commands/payout/hold.ts")).holdPayouts(host, options));
  adminCommand(admin, "release-payout", "release a hold on payouts, of any kind")
    .argument("<hold>", "id of the hold, from `berth admin payout-holds`", parseId)
    .requiredOption("--reason <text>", "why; the host reads it")
    .action(async (id, options) => (await import("../../commands/payout/hold.ts")).releasePayouts(id, options));
  adminCommand(admin, "disputes", "list the accounts with card payments that are disputed, or were lost")
    .option("--all", "show accounts whose disputes were all won as well")
    .action(async (options) => (await import("../../commands/admin/disputes.ts")).listDisputes(options));
  adminCommand(admin, "refund", "give a card payment back to its card")
    .argument("<payment>", "id of the payment", parseId)
    .argument("[dollars]", "dollars; all of it when left out", parseAmount)
    .action(async (id, amount, options) =>
      (await import("../../commands/payment/refund.ts")).refund(id, amount, options),
    );
}
