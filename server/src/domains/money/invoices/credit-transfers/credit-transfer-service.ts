import { createHash, randomUUID } from "node:crypto";
import type { Clock } from "../../../../base/clock.ts";
import { AppError, invalid } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { UserId } from "../../../../base/ids.ts";
import { unreachable } from "../../../../base/invariant.ts";
import { MicroBatcher } from "../../../../base/micro-batcher.ts";
import { formatDollars, nanos, parseDollars, toDollars, type Nanos } from "../../../../base/money.ts";
import type { Database } from "../../../../db/connect.ts";
import { keyReused, type Repeatable } from "../../../../db/idempotency.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { findRecipients, requireAccount, type Caller, type Recipient } from "../../../people/accounts/index.ts";
import {
  creditOf,
  lockAccounts,
  postTransfer,
  type Cause,
  type TransferOutcome,
  type TransferPoster,
} from "../../ledger/index.ts";
import type { TransferRequest } from "../../ledger/index.ts";
import { lockMovable, type IsBound } from "./movable.ts";
import type { RefuseCapped } from "./key-caps.ts";
import { chooseRecipient, invalidRecipient, noSuchRecipient, type RefuseTransfer } from "./rules/transfer-rules.ts";

const RECIPIENTS_BATCH_MAX = 500;

export type CreditTransfer = {
  readonly identity: Identity;
  readonly ipAddress: string;
  readonly requestId: string;
  /** Whose credit it is: `me`, or a subaccount of the caller's by address or id. */
  readonly sender: string;
  /** An e-mail address or a user id, as the sender typed it; `me` when it comes from a subaccount. */
  readonly recipient: string;
  readonly amount: Nanos;
  /** What the sender wants to see in the audit log beside the key that was really used. */
  readonly statedApiKeyId: string | undefined;
  readonly repeatable: Repeatable | undefined;
};

/** Finds whom a text names (findRecipients). Questions that arrive together are one statement. */
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
  /** The digest of the request that posted the transfer with this key; undefined when none did. */
  readonly findRequest: (key: string) => Promise<string | undefined>;
};

/**
 * Moves credit to another user. Resolves when that is durable; a repetition under the same Idempotency-Key finds the
 * transfer posted and moves nothing. Its audit record is written by the statement that posts it (migrations 0035, 0231).
 */
export async function transferCredit(ports: TransferPorts, transfer: CreditTransfer): Promise<void> {
  try {
    await attempt(ports, transfer);
  } catch (error) {
    if (!(error instanceof AppError) || !(await wasDone(ports, transfer))) throw error;
  }
}

/**
 * Whether this very request was done before: then it is answered as it was, whatever has become of the key, the caller and
 * the recipient since. Asked only once it is refused, so that nobody else pays for the question.
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
 * Throws when the sender cannot give away this amount. Both accounts stay locked until the commit, and are locked together
 * because two transfers in opposite directions would otherwise wait for each other.
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

/** Moves credit in the caller's transaction, which makes it safe to repeat; whether it may is the caller's to know. */
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
    /** Credit of a team that is deleted goes back to its owner, whatever it is. */
    readonly isReturn?: boolean;
    /** Who asked for it; undefined when nobody did. */
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

/** The caller's own subaccount among those whom a text names: the caller knows it, whether its address is proven or not. */
function ownOf(found: readonly Recipient[], userId: UserId): Recipient | undefined {
  return found.find(({ parentId }) => parentId === userId);
}

/** From a subaccount of the caller's: its credit is the parent's to move, to the parent or between subaccounts. */
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

/** Reads the amount of a request; the schema has checked its bounds, this checks that it can be counted exactly. */
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

/** The same request of the same key has the same transfer; one without an Idempotency-Key is always another. */
function keyOf(repeatable: Repeatable | undefined): string {
  if (repeatable === undefined) return `credit_transfer:${randomUUID()}`;
  const sha256 = createHash("sha256").update(`${repeatable.apiKeyId} ${repeatable.key}`).digest("hex");
  return `credit_transfer:${sha256}`;
}

/** Of a transfer's cause. */
export const REQUEST_DIGEST = "request_sha256";

function digestOf({ requestSha256 }: Repeatable): string {
  return requestSha256.toString("base64");
}

/** The digest makes the whole request part of what a repetition must match. */
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
