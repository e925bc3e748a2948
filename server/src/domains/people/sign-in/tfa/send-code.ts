import { AppError, invalid } from "../../../../base/errors.ts";
import type { TfaMethodId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { requireUser } from "../../accounts/index.ts";
import type { SignInMeans } from "../means.ts";
import { hashCode, newCode } from "../rules/codes.ts";
import type { SmsMessage } from "../sms.ts";
import { openChallenge, type Standing } from "./challenges.ts";
import {
  countSends,
  findSentChallenge,
  noteSend,
  putCode,
  spendChallenge,
  type Challenge,
  type Purpose,
} from "./challenge-store.ts";
import { methodContext, phoneContext } from "./views.ts";
import { noChallenge, pickMethod, sentContext } from "./verify.ts";

const CODE_MS = 10 * 60_000;
/** Least time between two codes that are sent the same way. */
const REPEAT_MS = 60_000;
const DAY_MS = 86_400_000;
/** Codes that a mailbox or phone gets in a day from all accounts, and that an account has sent in a day. */
const CODES_TO_TARGET = 10;
const CODES_BY_USER = 20;

/** The answer to a sent code; a text message is handed to the provider after the commit. */
export type Sent = { readonly secret: string; readonly outgoing: SmsMessage | undefined };

type Target =
  | { readonly channel: "email"; readonly to: string }
  | { readonly channel: "sms"; readonly to: string; readonly methodId: TfaMethodId | undefined };

type Order = {
  readonly userId: UserId;
  readonly purpose: Purpose;
  readonly target: Target;
  /** The challenge and secret that the code is for; another one is opened without them. */
  readonly existing: { readonly challenge: Challenge; readonly secret: string } | undefined;
  /** True when an earlier code that is still valid is to be replaced. */
  readonly isRepeat: boolean;
};

/** Mails a code to the proven address of an account. */
export async function sendMailCode(
  tx: Tx,
  { userId, challenge }: Pick<Standing, "userId" | "challenge">,
  { purpose, secret }: { readonly purpose: Purpose; readonly secret: string | undefined },
  means: SignInMeans,
): Promise<Sent> {
  const user = await requireUser(tx.db, userId);
  if (means.queueMail === undefined) {
    throw notConfigured("This server has no mail server, so it mails no codes. Use another method.");
  }
  if (!user.isEmailProven) {
    throw invalid("tfa_method", "The e-mail address of this account is not proven.", "email_not_verified");
  }
  const target = { channel: "email", to: user.email } as const;
  const existing = challenge === undefined || secret === undefined ? undefined : { challenge, secret };
  return send(tx, { userId, purpose, target, existing, isRepeat: false }, means);
}

/** Sends a code to a phone: that of a method, or a new number. */
export async function sendPhoneCode(
  tx: Tx,
  { userId, challenge }: Pick<Standing, "userId" | "challenge">,
  asked: {
    readonly purpose: Purpose;
    readonly secret: string | undefined;
    readonly methodId: TfaMethodId | undefined;
    readonly newNumber: string | undefined;
    readonly isRepeat: boolean;
  },
  means: SignInMeans,
): Promise<Sent> {
  if (means.sms === undefined) {
    throw notConfigured("This server sends no text messages: its operator has set up no provider. Use another method.");
  }
  const { purpose, secret, newNumber, isRepeat } = asked;
  const method = newNumber === undefined ? await pickMethod(tx, userId, "sms", asked.methodId) : undefined;
  const to =
    method === undefined ? newNumber : means.encryption.decrypt(method.encryptedSecret, methodContext(userId, "sms"));
  if (to === undefined) throw notConfigured("This method cannot be read on this server. Use another one.");
  const target = { channel: "sms", to, methodId: method?.id } as const;
  const existing = challenge === undefined || secret === undefined ? undefined : { challenge, secret };
  return send(tx, { userId, purpose, target, existing, isRepeat }, means);
}

async function send(tx: Tx, order: Order, means: SignInMeans): Promise<Sent> {
  const { userId, purpose, target } = order;
  const earlier =
    order.existing?.challenge ?? (await findSentChallenge(tx, { userId, purpose, channel: target.channel }));
  refuseTooSoon(tx.now, earlier, order);
  await countSend(tx, order, means);
  // A code that replaces another one leaves one that opens something.
  if (order.existing === undefined && earlier !== undefined) await spendChallenge(tx, earlier.id);
  const { challenge, secret } = order.existing ?? (await openChallenge(tx, { userId, purpose }, means));
  const code = newCode(means.random);
  const expiresAt = new Date(tx.now.getTime() + CODE_MS);
  const hash = hashCode(means.codeKey, sentContext(challenge), code);
  const methodId = target.channel === "sms" ? target.methodId : undefined;
  const encryptedPhone =
    target.channel === "sms" && methodId === undefined
      ? { encryptedPhone: means.encryption.encrypt(target.to, phoneContext(userId)) }
      : {};
  const way = { channel: target.channel, methodId, ...encryptedPhone };
  await putCode(tx, challenge.id, way, { hash, sentAt: tx.now, expiresAt });
  if (target.channel === "sms") {
    return { secret, outgoing: { to: target.to, text: `${code} is your Berth code. It is valid for ten minutes.` } };
  }
  await means.queueMail?.(tx, { to: target.to, subject: "Your Berth code", text: mailText(code, userId), expiresAt });
  return { secret, outgoing: undefined };
}

function refuseTooSoon(now: Date, earlier: Challenge | undefined, { target, isRepeat, existing }: Order): void {
  const sent = earlier?.channel === target.channel ? earlier.code : undefined;
  const isValid = sent !== undefined && sent.expiresAt > now;
  if (isRepeat && !isValid && existing === undefined) throw noChallenge(target.channel);
  if (!isValid) return;
  const waitMs = sent.sentAt.getTime() + REPEAT_MS - now.getTime();
  if (isRepeat && waitMs > 0) throw tooSoon(waitMs);
  // Mails have no operation of their own for a repetition.
  const mayReplace = isRepeat || (target.channel === "email" && waitMs <= 0);
  if (mayReplace) return;
  const advice = target.channel === "email" ? "Ask again in a minute." : "Ask for it again at /api/v0/tfa/sms/resend/.";
  throw new AppError("invalid", "tfa_challenge_exists", `A code was sent already. ${advice}`);
}

async function countSend(tx: Tx, { userId, target }: Order, { codeKey }: SignInMeans): Promise<void> {
  const since = new Date(tx.now.getTime() - DAY_MS);
  const hashed = hashCode(codeKey, `sent ${target.channel}`, target.to);
  const { toTarget, byUser } = await countSends(tx, { userId, target: hashed, since });
  if (toTarget >= CODES_TO_TARGET || byUser >= CODES_BY_USER) throw tooSoon(DAY_MS);
  await noteSend(tx, { userId, target: hashed, since });
}

function tooSoon(waitMs: number): AppError {
  const message = `Too many codes were sent. Ask again in ${Math.ceil(waitMs / 1000)} seconds.`;
  const extra = { success: false, error: "sms_rate_limited", detail: message, retry_after_ms: waitMs };
  return new AppError("rate_limited", "sms_rate_limited", message, { extra });
}

export function notConfigured(message: string): AppError {
  return invalid("tfa_method", message, "tfa_method_not_configured");
}

function mailText(code: string, userId: UserId): string {
  return [
    `Your code for account ${userId} on a Berth server is`,
    "",
    `  ${code}`,
    "",
    "It is valid for ten minutes. Nobody who works for the server asks you for it.",
    "If you did not ask for a code, somebody else knows your password or has a key of yours: change them.",
    "",
  ].join("\n");
}
