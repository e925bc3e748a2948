import { createHash, randomUUID } from "node:crypto";
import type { Clock } from "../../../../base/clock.ts";
import { AppError, invalid } from "../../../../base/errors.ts";
import type { Caller, Identity } from "../../../../base/identity.ts";
import type { UserId } from "../../../../base/ids.ts";
import { unreachable } from "../../../../base/invariant.ts";
import { MicroBatcher } from "../../../../base/micro-batcher.ts";
import { formatDollars, nanos, parseDollars, toDollars, type Nanos } from "../../../../base/money.ts";
import type { Database } from "../../../../db/connect.ts";
import { keyReused, type Repeatable } from "../../../../db/idempotency.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { findRecipients, type Recipient } from "../../../people/accounts/for-invoices.ts";
import { requireAccount } from "../../../people/accounts/index.ts";
import { creditOf, lockAccounts, postTransfer, type Cause, type TransferPoster } from "../../ledger/index.ts";
import type { TransferOutcome } from "../../ledger/for-invoices.ts";
import type { TransferRequest } from "../../ledger/index.ts";
import { lockMovable, type IsBound } from "./movable.ts";
import type { RefuseCapped } from "./key-caps.ts";
import { chooseRecipient, invalidRecipient, noSuchRecipient, type RefuseTransfer } from "./rules/transfer-rules.ts";

const RECIPIENTS_BATCH_MAX = 500;

export type CreditTransfer = {
  readonly identity: Identity;
  readonly ipAddress: string;
  readonly requestId: string;
  /** The owner of the credit: `me`, or a subaccount of the caller by address or id. */
  readonly sender: string;
  /** An e-mail address or a user id, as the sender typed it; `me` for credit from a subaccount to the caller. */
  readonly recipient: string;
  readonly amount: Nanos;
  /** The key that the sender states for the audit log, beside the key that was really used. */
  readonly statedApiKeyId: string | undefined;
  readonly repeatable: Repeatable | undefined;
};

/** Finds the users that a text names (findRecipients). Questions that arrive together share one statement. */
export type FindRecipient = (text: string) => Promise<readonly Recipient[]>;

export function createRecipientFinder(database: Database): FindRecipient {
  const batcher = new MicroBatcher<string, readonly Recipient[]>({
    maxBatch: RECIPIENTS_BATCH_MAX,
    run: async (texts) => {
      const found = await findRecipients(database, texts);
      return texts.map((text) => found.get(text) ?? []);
    },
  });
  return (text) => batcher.submit(text);
}

export type TransferPorts = {
  readonly poster: TransferPoster;
  readonly findRecipient: FindRecipient;
  readonly refuseTransfer: RefuseTransfer;
  readonly refuseCapped: RefuseCapped;
  readonly isBound: IsBound;
  readonly database: Database;
  readonly clock: Clock;
  /** The digest of the request that posted the transfer with this key; undefined without such a transfer. */
  readonly findRequest: (key: string) => Promise<string | undefined>;
};

/**
 * Moves credit to another user. Resolves when the transfer is durable; a repetition under the same Idempotency-Key
 * finds it posted and moves nothing. The statement that posts the transfer also writes its audit record (migrations
 * 0035, 0231).
 */
export async function transferCredit(ports: TransferPorts, transfer: CreditTransfer): Promise<void> {
  try {
    await attempt(ports, transfer);
  } catch (error) {
    if (!(error instanceof AppError) || !(await wasDone(ports, transfer))) throw error;
  }
}

/**
 * True when this very request succeeded before: it is then answered like the first time, even if key, caller or
 * recipient have changed since. Asked only after a refusal, so that other requests do not pay for the question.
 */
async function wasDone({ findRequest }: TransferPorts, { repeatable }: CreditTransfer): Promise<boolean> {
  if (repeatable === undefined) return false;
  const earlier = await findRequest(keyOf(repeatable));
  if (earlier !== undefined && earlier !== digestOf(repeatable)) throw keyReused();
  return earlier !== undefined;
}

async function attempt(ports: TransferPorts, transfer: CreditTransfer): Promise<void> {
  const { identity, amount } = transfer;
  const { from, to } = await findSides(ports, transfer);
  const refused = await ports.refuseCapped(identity.apiKeyId);
  if (refused) throw refused;
  const request: TransferRequest = {
    key: keyOf(transfer.repeatable),
    debit: creditOf(from),
    credit: creditOf(to),
    amount,
    code: "credit_transfer",
    cause: { ...causeOf(transfer), ...(from === identity.userId ? {} : { actor_id: identity.userId }) },
    description: describe(from, to),
    origin: { ...identity, ipAddress: transfer.ipAddress, requestId: transfer.requestId },
  };
  if (!(await ports.isBound(from))) return refuseUnposted(await ports.poster.post(request), amount);
  await withTransaction(ports.database, ports.clock, async (tx) => {
    await requireAccount(tx, from);
    await refuseBound(tx, { from, to }, amount);
    refuseUnposted(await postTransfer(tx, request), amount);
  });
}

/**
 * Throws when the sender cannot give away this amount. Both accounts stay locked until the transaction ends; they are
 * locked together, since two transfers in opposite directions could deadlock otherwise.
 */
async function refuseBound(tx: Tx, { from, to }: Sides, amount: Nanos): Promise<void> {
  await lockAccounts(tx, [creditOf(from), creditOf(to)]);
  const movable = await lockMovable(tx, from);
  if (amount <= movable) return;
  refuseUnposted(
    { kind: "insufficient", availableNanos: movable, shortfallNanos: nanos(amount - movable) },
    amount,
    "What you use, and card payments of the last days, cannot be transferred.",
  );
}

/**
 * Moves credit in the caller's transaction, which makes it safe to repeat. The caller has checked that it is allowed.
 */
export async function moveCredit(
  tx: Tx,
  {
    from,
    to,
    amount,
    caller,
    isReturn = false,
  }: Sides & {
    readonly amount: Nanos;
    /** True for credit of a deleted team, which returns to its owner even if other rules would keep it. */
    readonly isReturn?: boolean;
    /** The caller who asked for it; undefined for a transfer by the server itself. */
    readonly caller: Caller | undefined;
  },
): Promise<void> {
  if (!isReturn) await refuseBound(tx, { from, to }, amount);
  const outcome = await postTransfer(tx, {
    key: `credit_transfer:${randomUUID()}`,
    debit: creditOf(from),
    credit: creditOf(to),
    amount,
    code: "credit_transfer",
    cause: caller === undefined ? {} : originOf(caller),
    description: describe(from, to),
  });
  refuseUnposted(outcome, amount);
}

type Sides = { readonly from: UserId; readonly to: UserId };

async function findSides(ports: TransferPorts, transfer: CreditTransfer): Promise<Sides> {
  const { identity, sender: senderText, recipient: text } = transfer;
  const { findRecipient, refuseTransfer } = ports;
  const senders = senderText === "me" ? [] : await findRecipient(senderText);
  const sender = senders.find(({ id }) => id === identity.userId) ?? ownOf(senders, identity.userId);
  if (senderText !== "me" && sender?.id !== identity.userId) return findFamily(ports, transfer, sender);
  const found = await findRecipient(text);
  if (found.length === 1 && found[0]?.id === identity.userId) throw toOneself();
  const recipient = ownOf(found, identity.userId) ?? chooseRecipient(found, text);
  const refused = await refuseTransfer(identity, recipient, text);
  if (refused) throw refused;
  return { from: identity.userId, to: recipient.id };
}

/** The caller's own subaccount among the accounts that a text names; its address need not be proven. */
function ownOf(found: readonly Recipient[], userId: UserId): Recipient | undefined {
  return found.find(({ parentId }) => parentId === userId);
}

/**
 * The two accounts of a transfer from the caller's subaccount: its parent may move its credit, to the parent or between
 * subaccounts.
 */
async function findFamily(
  { findRecipient }: TransferPorts,
  { identity: { userId }, sender: senderText, recipient: text }: CreditTransfer,
  sender: Recipient | undefined,
): Promise<Sides> {
  if (sender === undefined || sender.parentId !== userId) {
    throw invalid("sender", `You have no subaccount ${senderText}.`, "invalid_params");
  }
  const found = text === "me" ? [] : await findRecipient(text);
  if (text !== "me" && found.length === 0) throw noSuchRecipient(text);
  const recipient = found.find(({ id }) => id === userId) ?? ownOf(found, userId) ?? found[0];
  const to = recipient?.id ?? userId;
  if (to === sender.id) throw toOneself();
  if (to !== userId && recipient?.parentId !== userId) {
    throw invalidRecipient("Credit of a subaccount goes to you, or to another subaccount of yours.");
  }
  return { from: sender.id, to };
}

/** Parses the amount of a request. The schema has checked its bounds; this checks that it is exact in nano-dollars. */
export function parseAmount(amount: number): Nanos {
  const parsed = parseDollars(amount);
  if (parsed === undefined || parsed <= 0n) throw invalid("amount", "amount must be a positive number of dollars");
  return parsed;
}

function refuseUnposted(outcome: TransferOutcome, amount: Nanos, why = ""): void {
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
      const message =
        `Transferring $${formatDollars(amount)} needs $${needs} more than the $${has} you can spend. ${why}`.trimEnd();
      throw new AppError("insufficient_funds", "insufficient_balance", message, { extra });
    }
    default:
      unreachable(outcome);
  }
}

function describe(from: UserId, to: UserId): string {
  return `Credit from user ${from} to user ${to}`;
}

function toOneself(): AppError {
  return invalidRecipient("Credit cannot be transferred to oneself.");
}

/**
 * The key of a transfer: the same for a repetition of a request under its key; unique for one without an
 * Idempotency-Key.
 */
function keyOf(repeatable: Repeatable | undefined): string {
  if (repeatable === undefined) return `credit_transfer:${randomUUID()}`;
  const sha256 = createHash("sha256").update(`${repeatable.apiKeyId} ${repeatable.key}`).digest("hex");
  return `credit_transfer:${sha256}`;
}

/** A name in the cause of a transfer. */
export const REQUEST_DIGEST = "request_sha256";

function digestOf({ requestSha256 }: Repeatable): string {
  return requestSha256.toString("base64");
}

/** The cause of a transfer. The digest makes the whole request part of the content that a repetition must match. */
function causeOf(transfer: CreditTransfer): Cause {
  const { statedApiKeyId, repeatable } = transfer;
  return {
    ...originOf(transfer),
    ...(statedApiKeyId === undefined ? {} : { apikey_id: statedApiKeyId }),
    ...(repeatable === undefined ? {} : { [REQUEST_DIGEST]: digestOf(repeatable) }),
  };
}

function originOf({ identity, ipAddress }: Caller): Cause {
  const { apiKeyId, memberId } = identity;
  return {
    api_key_id: apiKeyId,
    ip_address: ipAddress,
    ...(memberId === undefined ? {} : { member_id: memberId }),
  };
}
