import { createHash } from "node:crypto";
import type { Caller } from "../../../../base/identity.ts";
import { AppError, conflict, forbidden, notFound } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { postNotifications, type QueueMail } from "../../../notifications/index.ts";
import { recordAudit } from "../audit-log/store.ts";
import {
  displaceClaims,
  listClaims,
  listProofMails,
  lockAddress,
  putProof,
  setClaim,
  setProven,
  takeProof,
  type ProvenBy,
} from "./store.ts";
import { requireUser } from "../users/find-user.ts";
import type { RandomBytes } from "../keys/rules/keys.ts";
import { notForTeams, type User } from "../users/rules/user.ts";

const VALID_MS = 24 * 3_600_000;
/** Least time between two tokens to one address. */
const REPEAT_MS = 60_000;
const MAILS_PER_DAY = 5;
const DAY_MS = 86_400_000;
const TOKEN_BYTES = 32;

export type ProofMeans = {
  readonly random: RandomBytes;
  /** Queues a mail; undefined where no mail server is set up: then only an administrator can prove an address. */
  readonly queueMail: QueueMail | undefined;
};

/**
 * Decides whether an account may name an address as its own. With `isProven`, an administrator's word takes the address
 * from accounts that only claim it. Where mail can prove addresses, any number of accounts may claim one; elsewhere the
 * first account keeps it.
 */
export async function claimAddress(
  tx: Tx,
  email: string,
  { userId, isProven, canMail }: { readonly userId?: UserId; readonly isProven: boolean; readonly canMail: boolean },
): Promise<"free" | "taken"> {
  await lockAddress(tx, email);
  const others = (await listClaims(tx.db, email)).filter((claim) => claim.userId !== userId);
  if (others.some((claim) => claim.isProven)) return "taken";
  if (isProven) await displace(tx, email, userId);
  else if (others.length > 0 && !canMail) return "taken";
  return "free";
}

/** Changes the address of an account. The new address is unproven; it gets a token if a mail server is set up. */
export async function changeAddress(
  tx: Tx,
  user: Pick<User, "id" | "email">,
  email: string,
  means: ProofMeans,
): Promise<"changed" | "taken"> {
  if (email === user.email) return "changed";
  const canMail = means.queueMail !== undefined;
  if ((await claimAddress(tx, email, { userId: user.id, isProven: false, canMail })) === "taken") return "taken";
  await setClaim(tx, user.id, email);
  await mailToken(tx, { id: user.id, email }, means);
  return "changed";
}

/** Mails a token to the address of an account; returns the milliseconds to wait when the address had enough mails. */
export async function mailToken(
  tx: Tx,
  { id: userId, email }: Pick<User, "id" | "email">,
  { random, queueMail }: ProofMeans,
): Promise<number> {
  if (queueMail === undefined) return 0;
  const sent = await listProofMails(tx, email, new Date(tx.now.getTime() - DAY_MS));
  const [oldest, newest] = [sent[0], sent.at(-1)];
  const freeAtMs = Math.max(
    newest === undefined ? 0 : newest.getTime() + REPEAT_MS,
    oldest === undefined || sent.length < MAILS_PER_DAY ? 0 : oldest.getTime() + DAY_MS,
  );
  if (freeAtMs > tx.now.getTime()) return freeAtMs - tx.now.getTime();
  const token = random(TOKEN_BYTES).toString("base64url");
  const expiresAt = new Date(tx.now.getTime() + VALID_MS);
  await putProof(tx, { userId, email, tokenSha256: hashOf(token), expiresAt });
  const text = [
    `Account ${userId} on a Berth server says that ${email} is its address. If that is your account, prove it within`,
    "24 hours, with its key:",
    "",
    `  berth email confirm ${token}`,
    "",
    "If you made no such account, do nothing: without this token the address counts for nothing there.",
    "",
  ].join("\n");
  await queueMail(tx, { to: email, subject: `Prove the address of account ${userId}`, text, expiresAt });
  return 0;
}

/** Mails the caller another token. */
export async function requestProof(tx: Tx, { identity }: Caller, means: ProofMeans): Promise<User> {
  if (identity.memberId !== undefined) throw notForTeams("A team has no address of its own.");
  const user = await requireUser(tx.db, identity.userId);
  if (user.isEmailProven) return user;
  if (means.queueMail === undefined) {
    throw conflict(
      "no_mail_server",
      "This server has no mail server. Its operator can prove your address: ./berth admin prove-email.",
    );
  }
  await lockAddress(tx, user.email);
  const waitMs = await mailToken(tx, user, means);
  if (waitMs === 0) return user;
  const message = `A token was mailed to ${user.email} already. Ask again in ${Math.ceil(waitMs / 1000)} seconds.`;
  throw new AppError("rate_limited", "rate_limited", message, { extra: { detail: message, retry_after_ms: waitMs } });
}

/** Proves the caller's address with a token that was mailed there. The token is invalid with another account's key. */
export async function confirmProof(tx: Tx, caller: Caller, token: string): Promise<string> {
  const { identity, ipAddress } = caller;
  if (identity.memberId !== undefined) throw notForTeams("A team has no address of its own.");
  const before = await requireUser(tx.db, identity.userId);
  await lockAddress(tx, before.email);
  const { email } = await requireUser(tx.db, identity.userId);
  const mailedTo = await takeProof(tx, { userId: identity.userId, tokenSha256: hashOf(token) });
  if (mailedTo === undefined || mailedTo !== email || email !== before.email) {
    throw notFound(
      "no_such_proof",
      "This token is invalid: it was used, has expired, or is for another account or address.",
    );
  }
  await prove(tx, identity.userId, { email, provenBy: "mail" });
  await recordAudit(tx, identity, { ipAddress, action: "api.user.confirm_email", args: { email } });
  return email;
}

/** Proves an account's address on an administrator's word. The request names the address too: it may have changed. */
export async function proveAsOperator(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { userId, email }: { readonly userId: UserId; readonly email: string },
): Promise<void> {
  await lockAddress(tx, email);
  const user = await requireUser(tx.db, userId);
  if (user.isTeam) throw notForTeams("A team has no address of its own.");
  if (user.email !== email) throw conflict("other_email", `Account ${userId} does not claim ${email}.`);
  await prove(tx, userId, { email, provenBy: "operator" });
  const args = { user_id: userId, email };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.user.prove_email", args });
  await recordAudit(tx, { userId }, { ipAddress, action: "api.admin.user.prove_email", args });
}

async function prove(
  tx: Tx,
  userId: UserId,
  { email, provenBy }: { readonly email: string; readonly provenBy: ProvenBy },
): Promise<void> {
  const isOthers = (await listClaims(tx.db, email)).some((claim) => claim.isProven && claim.userId !== userId);
  if (isOthers) throw conflict("user_exists", `Another account has proven ${email}.`);
  await displace(tx, email, userId);
  await setProven(tx, userId, provenBy);
}

/** Takes the address from accounts that only claimed it, and notifies them, when another account proves it. */
async function displace(tx: Tx, email: string, exceptId: UserId | undefined): Promise<void> {
  const displaced = await displaceClaims(tx, email, exceptId);
  const notifications = displaced.map((userId) => ({
    userId,
    kind: "client:email_lost" as const,
    subject: `${email} is no longer your address`,
    message: `Another account proved that ${email} is its address; yours had not. Account ${userId} keeps everything it has: give it another address.`,
    key: `email_lost:${userId}:${email}:${tx.now.getTime()}`,
  }));
  if (notifications.length > 0) await postNotifications(tx, notifications);
}

/** Throws when an operation that relies on the caller's address finds it unproven. */
export function requireProven({ email, isEmailProven }: Pick<User, "email" | "isEmailProven">): void {
  if (isEmailProven) return;
  throw forbidden(`Prove that ${email} is your address first: ./berth email prove.`, "email_not_verified");
}

/** The token is 256 random bits, so a plain hash is enough. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
