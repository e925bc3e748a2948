import type { Command } from "commander";
import { serverCommand } from "./declare-connection.ts";
import { parseAmount, parseId } from "./parse.ts";

/** Agreements about the price and the end of a rental. */
export function declareContractCommands(program: Command): void {
  serverCommand(program, "prepay", "reserve an on-demand instance: pay in advance for less")
    .argument("<id>", "id of the instance", parseId)
    .argument("<dollars>", "how much; a month or more is worth most", parseAmount)
    .action(async (id, amount, options) => (await import("./commands/contract/prepay.ts")).prepay(id, amount, options));
  serverCommand(program, "deposit", "show what is left of a prepayment, and what would come back")
    .argument("<id>", "id of the instance", parseId)
    .action(async (id, options) => (await import("./commands/contract/deposit.ts")).showDeposit(id, options));

  const increase = program
    .command("price-increase")
    .description("what hosts ask for staying longer: list, accept, reject");
  serverCommand(increase, "list", "list what hosts ask").action(async (options) =>
    (await import("./commands/contract/list-price-increases.ts")).listPriceIncreases(options),
  );
  serverCommand(increase, "accept", "stay at the new price after the present end")
    .argument("<id>", "from `berth price-increase list`", parseId)
    .action(async (id, options) =>
      (await import("./commands/contract/answer-price-increase.ts")).acceptPriceIncrease(id, options),
    );
  serverCommand(increase, "reject", "keep the price, and leave at the present end")
    .argument("<id>", "from `berth price-increase list`", parseId)
    .action(async (id, options) =>
      (await import("./commands/contract/answer-price-increase.ts")).rejectPriceIncrease(id, options),
    );
}
