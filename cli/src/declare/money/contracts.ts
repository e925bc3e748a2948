import type { Command } from "commander";
import { serverCommand } from "../connection.ts";
import { parseAmount, parseId } from "../../parse.ts";

/** Agreements about the price and the end of a rental. */
export function declareContractCommands(program: Command): void {
  serverCommand(program, "prepay", "reserve an on-demand instance: pay in advance for less")
    .argument("<id>", "id of the instance", parseId)
    .argument("<dollars>", "amount in dollars; the discount grows up to five months of running", parseAmount)
    .action(async (id, amount, options) =>
      (await import("../../commands/contract/prepay.ts")).prepay(id, amount, options),
    );
  serverCommand(program, "deposit", "show the rest of a deposit, and its refund now")
    .argument("<id>", "id of the instance", parseId)
    .action(async (id, options) => (await import("../../commands/contract/deposit.ts")).showDeposit(id, options));

  const increase = program.command("price-increase").description("price increases of hosts: list, accept, reject");
  serverCommand(increase, "list", "list open price increases").action(async (options) =>
    (await import("../../commands/contract/list-price-increases.ts")).listPriceIncreases(options),
  );
  serverCommand(increase, "accept", "stay at the new price after the present end")
    .argument("<id>", "from `berth price-increase list`", parseId)
    .action(async (id, options) =>
      (await import("../../commands/contract/answer-price-increase.ts")).acceptPriceIncrease(id, options),
    );
  serverCommand(increase, "reject", "keep the price, and leave at the present end")
    .argument("<id>", "from `berth price-increase list`", parseId)
    .action(async (id, options) =>
      (await import("../../commands/contract/answer-price-increase.ts")).rejectPriceIncrease(id, options),
    );
}
