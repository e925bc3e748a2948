import type { Loop } from "../../../base/loop-driver.ts";
import { chargeDueCards } from "./cards/autobill-service.ts";
import { syncCards } from "./cards/card-service.ts";
import { invoiceEarnings, sendDuePayouts, type PayoutDependencies } from "./payouts/payout-service.ts";
import { askForRefunds } from "./refunds/refund-service.ts";

/** Loops that move money in and out without a request. */
export function paymentLoops(dependencies: PayoutDependencies): readonly Loop[] {
  return [
    {
      name: "charge-due-cards",
      description: "Charges saved cards of users whose credit has fallen to their threshold.",
      everyMs: 30_000,
      run: () => chargeDueCards(dependencies),
    },
    {
      name: "sync-cards",
      description: "Synchronizes saved cards with the payment provider.",
      everyMs: 60_000,
      run: () => syncCards(dependencies),
    },
    {
      name: "ask-for-refunds",
      description: "Asks the payment provider for the refunds that administrators requested.",
      everyMs: 30_000,
      run: () => askForRefunds(dependencies),
    },
    {
      name: "invoice-earnings",
      description: "Each Friday, takes the fee of hosts' earnings and schedules their payouts.",
      everyMs: 60_000,
      run: () => invoiceEarnings(dependencies),
    },
    {
      name: "send-due-payouts",
      description: "Sends due payouts to hosts with an account at the payment provider.",
      everyMs: 60_000,
      run: () => sendDuePayouts(dependencies),
    },
  ];
}
