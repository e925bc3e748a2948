import { randomUUID } from "node:crypto";
import { conflict } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Nanos } from "../../../base/money.ts";
import type { Tx } from "../../../db/transaction.ts";
import type { AuditActor } from "../../people/accounts/for-invoices.ts";
import { creditOf, ISSUANCE, postTransfer, type TransferId } from "../ledger/index.ts";

export type CreditGrant = {
  readonly userId: UserId;
  readonly amount: Nanos;
  /** A phrase for the user's invoice. */
  readonly reason: string;
  /** The user's means of payment, such as a wire transfer; undefined for a gift, which has no receipt. */
  readonly paidBy?: string | undefined;
  readonly actor: AuditActor;
};

/**
 * Grants credit to a user in the caller's transaction, which makes it safe to repeat. Throws `conflict` when the ledger
 * cannot count that much money.
 */
export async function grantCredit(tx: Tx, { userId, amount, reason, paidBy, actor }: CreditGrant): Promise<TransferId> {
  const outcome = await postTransfer(tx, {
    key: `credit_granted:${randomUUID()}`,
    debit: ISSUANCE,
    credit: creditOf(userId),
    amount,
    code: "credit_granted",
    cause: {
      actor_id: actor.userId,
      ...(actor.apiKeyId === undefined ? {} : { api_key_id: actor.apiKeyId }),
      ...(paidBy === undefined ? {} : { paid_by: paidBy }),
    },
    description: reason,
  });
  if (outcome.kind === "posted") return outcome.transferId;
  throw conflict("credit_limit", "So much credit cannot be granted: the ledger's total is limited.");
}
