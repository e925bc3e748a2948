import { findUser } from "../../../people/accounts/for-invoices.ts";
import { findReceiptOfPayment } from "./account-document-store.ts";
import { issueByMovement, type IssueMeans } from "./issue-by-movement.ts";
import { makeReceipt, RECEIPT_CODES, receiptFactsOf } from "./rules/receipt.ts";

/** Issues a receipt for each payment and each returned payment since the last run. Returns the number issued. */
export function issueReceipts(means: IssueMeans): Promise<number> {
  return issueByMovement(means, {
    kind: "receipt",
    codes: RECEIPT_CODES,
    draft: async (tx, movement) => {
      const facts = receiptFactsOf(movement);
      if (facts === undefined) return "none";
      const { userId, event, paymentId } = facts;
      const isFirst = event === "payment" || paymentId === undefined;
      const refersTo = isFirst ? undefined : await findReceiptOfPayment(tx.db, userId, paymentId);
      const content = makeReceipt(movement, facts, { seller: means.seller, user: await findUser(tx.db, userId) });
      return { kind: "receipt", userId, month: undefined, transferId: movement.id, refersTo, content };
    },
  });
}
