import { invalid } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { PayoutTarget } from "./rules/payout-method.ts";
import { findPayoutMethod, storePayoutMethod } from "./payout-method-store.ts";
import type { PaymentProvider } from "../provider/provider.ts";

/** Stores where a host's money goes from now on. A payout that is being sent keeps its destination. */
export async function choosePayoutMethod(
  tx: Tx,
  { encryption, provider }: { readonly encryption: Encryption; readonly provider: PaymentProvider },
  { userId, target }: { readonly userId: UserId; readonly target: PayoutTarget },
): Promise<void> {
  const { method, details, shown } = target;
  if (method === "stripe" && !provider.describe().sendsPayouts) {
    throw invalid("method", "Nothing can be sent through Stripe here: choose wise, paypal or bank.");
  }
  const encryptedDetails = encryption.encrypt(JSON.stringify(details), contextOf(userId));
  await storePayoutMethod(tx, userId, { method, encryptedDetails, shown });
}

/** Decrypts the details for an administrator; undefined when they were encrypted under another secret. */
export function openDetails(
  encryption: Encryption,
  userId: UserId,
  encryptedDetails: string,
): Readonly<Record<string, string>> | undefined {
  const text = encryption.decrypt(encryptedDetails, contextOf(userId));
  return text === undefined ? undefined : JSON.parse(text);
}

/** The full destination of a host's money, for administrators who send it. */
export async function readPayoutDetails(db: Reader, encryption: Encryption, userId: UserId) {
  const stored = await findPayoutMethod(db, userId);
  return stored && { ...stored, details: openDetails(encryption, userId, stored.encryptedDetails) };
}

function contextOf(userId: UserId): string {
  return `payout method ${userId}`;
}
