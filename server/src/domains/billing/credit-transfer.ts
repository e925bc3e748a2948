import { createHash, randomUUID } from "node:crypto";
import { AppError, invalid } from "../../base/errors.ts";
import type { Identity } from "../../base/identity.ts";
import type { UserId } from "../../base/ids.ts";
import { unreachable } from "../../base/invariant.ts";
import { MicroBatcher } from "../../base/micro-batcher.ts";
import { formatDollars, parseDollars, toDollars, type Nanos } from "../../base/money.ts";
import type { Database } from "../../db/connect.ts";
import { keyReused, type Repeatable } from "../../http/idempotency.ts";
import { findUserIds } from "../accounts/index.ts";
import { creditOf, type Cause, type TransferOutcome, type TransferPoster } from "../ledger/index.ts";

const RECIPIENTS_BATCH_MAX = 500;

export type CreditTransfer = {
  readonly identity: Identity;
  readonly ipAddress: string;
  /** An e-mail address or a user id, as the sender typed it. */
  readonly recipient: string;
  readonly amount: Nanos;
  /** What the sender wants to see in the audit log beside the key that was really used. */
  readonly statedApiKeyId: string | undefined;
  readonly repeatable: Repeatable | undefined;
};

/** Finds whom a text names; undefined when nobody. Questions that arrive together are one statement. */
export type FindRecipient = (text: string) => Promise<UserId | undefined>;

export function createRecipientFinder(database: Database): FindRecipient {
  const batcher = new MicroBatcher<string, UserId | undefined>({
    maxBatch: RECIPIENTS_BATCH_MAX,
    run: async (texts) => {
      const found = await findUserIds(database, texts);
      return texts.map((text) => found.get(text));
    },
  });
  return (text) => batcher.submit(text);
}

/**
 * Moves credit to another user. Resolves when that is durable; a repetition under the same Idempotency-Key finds the
 * transfer posted and moves nothing. Its audit record is written by the statement that posts it (migration 0035).
 */
export async function transferCredit(
  { poster, findRecipient }: { readonly poster: TransferPoster; readonly findRecipient: FindRecipient },
  transfer: CreditTransfer,
): Promise<void> {
  const { identity, recipient, amount } = transfer;
  const recipientId = await findRecipient(recipient);
  if (recipientId === undefined) throw invalidRecipient(`There is no user ${recipient}.`);
  if (recipientId === identity.userId) throw invalidRecipient("Credit cannot be transferred to oneself.");
  const outcome = await poster.post({
    key: keyOf(transfer.repeatable),
    debit: creditOf(identity.userId),
    credit: creditOf(recipientId),
    amount,
    code: "credit_transfer",
    cause: causeOf(transfer),
    description: `Credit from user ${identity.userId} to user ${recipientId}`,
  });
  refuseUnposted(outcome, amount);
}

/** Reads the amount of a request; the schema has checked its bounds, this checks that it can be counted exactly. */
export function parseAmount(amount: number): Nanos {
  const parsed = parseDollars(amount);
  if (parsed === undefined || parsed <= 0n) throw invalid("amount", "amount must be a positive number of dollars");
  return parsed;
}

function refuseUnposted(outcome: TransferOutcome, amount: Nanos): void {
  switch (outcome.kind) {
    case "posted":
    case "exists":
      return;
    case "key_conflict":
      throw keyReused();
    case "insufficient": {
      const { availableNanos, shortfallNanos } = outcome;
      const extra = { available: toDollars(availableNanos), shortfall: toDollars(shortfallNanos) };
      const [has, needs] = [formatDollars(availableNanos), formatDollars(shortfallNanos)];
      const message = `Transferring $${formatDollars(amount)} needs $${needs} more than the $${has} you can spend.`;
      throw new AppError("insufficient_funds", "insufficient_balance", message, { extra });
    }
    default:
      unreachable(outcome);
  }
}

function invalidRecipient(message: string): AppError {
  return invalid("recipient", message, "invalid_recipient");
}

/** The same request of the same key has the same transfer; one without an Idempotency-Key is always another. */
function keyOf(repeatable: Repeatable | undefined): string {
  if (repeatable === undefined) return `credit_transfer:${randomUUID()}`;
  const sha256 = createHash("sha256").update(`${repeatable.apiKeyId} ${repeatable.key}`).digest("hex");
  return `credit_transfer:${sha256}`;
}

/** The digest makes the whole request part of what a repetition must match. */
function causeOf({ identity, ipAddress, statedApiKeyId, repeatable }: CreditTransfer): Cause {
  return {
    api_key_id: identity.apiKeyId,
    ip_address: ipAddress,
    ...(statedApiKeyId === undefined ? {} : { apikey_id: statedApiKeyId }),
    ...(repeatable === undefined ? {} : { request_sha256: repeatable.requestSha256.toString("base64") }),
  };
}
