import { forbidden, invalid } from "../../../../base/errors.ts";
import type { Caller } from "../../../../base/identity.ts";
import type { TfaMethodId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { recordAudit, requireUser } from "../../accounts/index.ts";
import { renewCookiesOf, setTfa } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { fromBase32, toBase32 } from "../rules/base32.ts";
import { hashCode, newBackupCodes } from "../rules/codes.ts";
import { isSameText, matchTotp, provisioningUri } from "../rules/totp.ts";
import { replaceBackupCodes } from "./backup-code-store.ts";
import type { Channel } from "./challenge-store.ts";
import { challengeNotFound, openChallenge, personOf, standingOf } from "./challenges.ts";
import { insertMethod, listMethods, type StoredKind } from "./method-store.ts";
import { sendMailCode, sendPhoneCode, type Sent } from "./send-code.ts";
import { deleteSetup, findSetup, isAuthorized, putAuthorization, putSetup } from "./setup-store.ts";
import { attempt, attemptSent, noChallenge, pickMethod, readCode, verify, type Attempt } from "./verify.ts";
import { methodContext, phoneContext } from "./views.ts";

const WINDOW_MS = 30 * 60_000;
const SETUP_MS = 30 * 60_000;
/** RFC 4226 recommends 160 bits. */
const APP_SECRET_BYTES = 20;
const METHODS_MAX = 10;

type Authorization = {
  readonly channel: Channel | undefined;
  readonly methodId: TfaMethodId | undefined;
  readonly backupCode: string | undefined;
  /** True when the call brought the right password of the account. */
  readonly isPasswordRight: boolean;
};

/** The outcome of an authorization: a code that is awaited, or leave to add methods. */
export type Begun = { readonly kind: "sent"; readonly sent: Sent } | { readonly kind: "authorized" };

/**
 * Begins to authorize another method: by a method or backup code of the account, and where it has none yet by mail or by
 * its password.
 */
export async function beginAuthorization(
  tx: Tx,
  { identity }: Caller,
  asked: Authorization,
  means: SignInMeans,
): Promise<Attempt<Begun>> {
  const userId = await personOf(tx, identity);
  const methods = await listMethods(tx.db, userId);
  if (asked.backupCode !== undefined) {
    const proof = { channel: "totp", code: undefined, methodId: undefined, backupCode: asked.backupCode } as const;
    const outcome = await verify(tx, { userId, challenge: undefined, purposes: [] }, proof, means);
    if ("refused" in outcome) return outcome;
    await authorize(tx, userId);
    return { done: { kind: "authorized" } };
  }
  const primary = methods.find(({ isPrimary }) => isPrimary);
  if (primary === undefined) {
    if (asked.isPasswordRight) {
      await authorize(tx, userId);
      return { done: { kind: "authorized" } };
    }
    if (asked.channel !== undefined && asked.channel !== "email")
      throw notByThis("The first method is authorized by mail or by password.");
    const order = { purpose: "authorize", secret: undefined } as const;
    return { done: { kind: "sent", sent: await sendMailCode(tx, { userId, challenge: undefined }, order, means) } };
  }
  const channel = asked.channel ?? primary.kind;
  if (channel === "email" || asked.isPasswordRight) {
    throw notByThis("A further method is authorized by one that the account has, or by a backup code.");
  }
  const method = await pickMethod(tx, userId, channel, asked.methodId ?? idOf(primary, asked.channel));
  if (channel === "totp") {
    const order = { userId, purpose: "authorize", channel, methodId: method.id } as const;
    const { secret } = await openChallenge(tx, order, means);
    return { done: { kind: "sent", sent: { secret, outgoing: undefined } } };
  }
  const order = {
    purpose: "authorize",
    secret: undefined,
    methodId: method.id,
    newNumber: undefined,
    isRepeat: false,
  } as const;
  return { done: { kind: "sent", sent: await sendPhoneCode(tx, { userId, challenge: undefined }, order, means) } };
}

/** The primary method stands for the account's when the call names none. */
function idOf(primary: { readonly id: TfaMethodId }, asked: Channel | undefined): TfaMethodId | undefined {
  return asked === undefined ? primary.id : undefined;
}

/** Lets the account add methods when the awaited code is right. */
export async function finishAuthorization(
  tx: Tx,
  { identity }: Caller,
  { code, secret }: { readonly code: string | undefined; readonly secret: string | undefined },
  means: SignInMeans,
): Promise<Attempt<true>> {
  if (secret === undefined) throw invalid("secret", "secret is required", "missing_params");
  const { userId, challenge } = await standingOf(tx, { identity, secret });
  if (challenge?.purpose !== "authorize" || challenge.channel === undefined) {
    throw invalid("secret", "Nothing waits to be authorized by this secret.", "no_pending_authorization");
  }
  const proof = { channel: challenge.channel, code, methodId: challenge.methodId, backupCode: undefined };
  const outcome = await verify(tx, { userId, challenge, purposes: ["authorize"] }, proof, means);
  if ("refused" in outcome) return outcome;
  await authorize(tx, userId);
  return { done: true };
}

async function authorize(tx: Tx, userId: UserId): Promise<void> {
  await renewCookiesOf(tx, userId);
  await putAuthorization(tx, userId, new Date(tx.now.getTime() + WINDOW_MS));
}

/** A new secret for an authenticator app. It counts once its first code has come back. */
export async function setUpApp(
  tx: Tx,
  { identity }: Caller,
  { encryption, random }: SignInMeans,
): Promise<{ readonly secret: string; readonly uri: string }> {
  const userId = await personOf(tx, identity);
  const { email } = await requireUser(tx.db, userId);
  const secret = toBase32(random(APP_SECRET_BYTES));
  const expiresAt = new Date(tx.now.getTime() + SETUP_MS);
  await putSetup(tx, userId, encryption.encrypt(secret, setupContext(userId)), expiresAt);
  return { secret, uri: provisioningUri(secret, email) };
}

type NewMethod = {
  readonly kind: StoredKind;
  readonly code: string | undefined;
  readonly secret: string | undefined;
  readonly phoneNumber: string | undefined;
  readonly label: string;
};

/** The result of a new method: backup codes with the first one. */
export type Added = { readonly backupCodes: readonly string[] };

/** Adds a method whose first code is right. The first one turns two-factor sign-in on and comes with backup codes. */
export async function confirmMethod(
  tx: Tx,
  caller: Caller,
  asked: NewMethod,
  means: SignInMeans,
): Promise<Attempt<Added>> {
  const userId = await personOf(tx, caller.identity);
  await requireWindow(tx, userId);
  const methods = await listMethods(tx.db, userId);
  if (methods.length >= METHODS_MAX) {
    throw invalid("tfa_method", `An account may have at most ${METHODS_MAX} methods. Delete one first.`, "too_many");
  }
  const code = readCode(asked.code);
  const found =
    asked.kind === "totp"
      ? await confirmApp(tx, userId, { ...asked, code }, means)
      : await confirmPhone(tx, caller, { ...asked, code }, means);
  if ("refused" in found) return found;
  const { text, step } = found.done;
  const isKnown = methods.some(
    ({ kind, encryptedSecret }) =>
      kind === asked.kind && means.encryption.decrypt(encryptedSecret, methodContext(userId, kind)) === text,
  );
  if (isKnown) throw invalid("phone_number", "This method is set up already.", "duplicate_tfa_method");
  const encryptedSecret = means.encryption.encrypt(text, methodContext(userId, asked.kind));
  const isPrimary = methods.length === 0;
  const id = await insertMethod(tx, {
    userId,
    kind: asked.kind,
    label: asked.label,
    encryptedSecret,
    isPrimary,
    lastStep: step,
  });
  await recordAudit(tx, caller.identity, {
    ipAddress: caller.ipAddress,
    action: "api.tfa.confirm_new",
    args: { id, method: asked.kind },
  });
  if (!isPrimary) return { done: { backupCodes: [] } };
  await setTfa(tx, userId, true);
  tx.afterCommit(() => means.identities.forgetUser(userId));
  return { done: { backupCodes: await issueBackupCodes(tx, userId, means) } };
}

/** Makes new backup codes, shown once; earlier ones are invalid from then on. */
export async function issueBackupCodes(
  tx: Tx,
  userId: UserId,
  { random, codeKey }: SignInMeans,
): Promise<readonly string[]> {
  const codes = newBackupCodes(random);
  await replaceBackupCodes(
    tx,
    userId,
    codes.map((code) => hashCode(codeKey, `backup ${userId}`, code)),
  );
  return codes;
}

type Confirmed = { readonly text: string; readonly step: number | undefined };
type WithCode = Omit<NewMethod, "code"> & { readonly code: string };

async function confirmApp(
  tx: Tx,
  userId: UserId,
  { code, secret }: WithCode,
  { encryption }: SignInMeans,
): Promise<Attempt<Confirmed>> {
  const stored = await findSetup(tx, userId);
  const known = stored === undefined ? undefined : encryption.decrypt(stored, setupContext(userId));
  const bytes = known === undefined ? undefined : fromBase32(known);
  const given = secret?.toUpperCase().replace(/[\s=]/g, "");
  // A secret of the caller's own choice might be one that somebody else knows.
  if (known === undefined || bytes === undefined || given === undefined || !isSameText(known, given)) {
    throw challengeNotFound();
  }
  let step: number | undefined;
  const outcome = await attempt(tx, { userId, factor: "setup" }, async () => {
    step = matchTotp(bytes, code, { now: tx.now, lastStep: undefined });
    return step !== undefined;
  });
  if ("refused" in outcome) return outcome;
  await deleteSetup(tx, userId);
  return { done: { text: known, step } };
}

async function confirmPhone(
  tx: Tx,
  { identity }: Caller,
  { code, secret, phoneNumber }: WithCode,
  means: SignInMeans,
): Promise<Attempt<Confirmed>> {
  if (secret === undefined)
    throw invalid("secret", "secret is required: the one that came when the code was sent", "missing_params");
  const { userId, challenge } = await standingOf(tx, { identity, secret });
  if (challenge?.purpose !== "phone" || challenge.encryptedPhone === undefined) throw noChallenge("sms");
  const number = means.encryption.decrypt(challenge.encryptedPhone, phoneContext(userId));
  if (number === undefined) throw noChallenge("sms");
  if (phoneNumber !== undefined && phoneNumber !== number) {
    throw invalid("phone_number", "phone_number is not the one that the code was sent to", "phone_number_mismatch");
  }
  const outcome = await attemptSent(tx, { userId, factor: "phone", challenge, code }, means);
  return "refused" in outcome ? outcome : { done: { text: number, step: undefined } };
}

/** Throws unless the account may add methods now. */
export async function requireWindow(tx: Tx, userId: UserId): Promise<void> {
  if (await isAuthorized(tx.db, userId, tx.now)) return;
  throw forbidden("Authorize this first: /api/v0/tfa/authorize-new-method/.", "authorization_required");
}

const setupContext = (userId: UserId) => `tfa setup ${userId}`;

function notByThis(message: string) {
  return invalid("tfa_method", message, "invalid_tfa_method");
}
