import { conflict, type AppError } from "../../../../base/errors.ts";
import type { PaymentProvider } from "./provider.ts";

const TOP_UP_TEXT =
  "No card payments are set up here: an administrator gives credit (./berth admin credit EMAIL DOLLARS).";

/** For those who settle elsewhere: credit is an administrator's word, and so is that a host was paid. */
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

/** The answer to whoever wants to pay by card where nobody takes cards. */
export function paymentsNotConfigured(topUpText: string): AppError {
  return conflict("payments_not_configured", topUpText);
}
