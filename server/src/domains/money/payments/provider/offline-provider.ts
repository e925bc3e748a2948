import { conflict, type AppError } from "../../../../base/errors.ts";
import type { PaymentProvider } from "./provider.ts";

const TOP_UP_TEXT =
  "No card payments are set up here: an administrator gives credit (./berth admin credit EMAIL DOLLARS).";

/** A provider for operators who settle elsewhere: administrators grant credit and confirm payouts. */
export function createOfflineProvider(): PaymentProvider {
  const refuse = async (): Promise<never> => {
    throw paymentsNotConfigured(TOP_UP_TEXT);
  };
  return {
    name: "offline",
    describe: () => ({ takesCards: false, sendsPayouts: false, topUpText: TOP_UP_TEXT }),
    createCustomer: refuse,
    createCheckout: refuse,
    createSetup: refuse,
    listCards: refuse,
    detachCard: refuse,
    chargeSaved: refuse,
    findCharge: refuse,
    refund: refuse,
    parseWebhook: refuse,
    payOut: async () => ({ kind: "by_hand" }),
  };
}

/** The error for a card payment on a server that takes no cards. */
export function paymentsNotConfigured(topUpText: string): AppError {
  return conflict("payments_not_configured", topUpText);
}
