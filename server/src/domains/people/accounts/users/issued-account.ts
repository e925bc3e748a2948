import { AppError, conflict } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { claimAddress, mailToken, type ProofMeans } from "../emails/service.ts";
import { parseEmail, USERNAME_LENGTH_MAX } from "./profile.ts";
import { CLAIM_EMAIL_DOMAIN } from "./rules/user.ts";
import { insertUser, updateUser } from "./store.ts";

const FULLNAME_LENGTH_MAX = 256;
const PLACEHOLDER_BYTES = 12;

/** The address in the form in which accounts have it; undefined for one that no account can have. */
export function readEmail(text: string): string | undefined {
  try {
    return parseEmail(text);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/**
 * Creates the account of a person whom an issuer of single sign-on knows: without a password and without a key. The issuer
 * vouches for the address where it says that it is proven; without an address the account gets one at which no mail
 * arrives.
 */
export async function createIssuedAccount(
  tx: Tx,
  asked: {
    readonly email: string | undefined;
    readonly isProven: boolean;
    readonly name: string;
    readonly fullname: string;
  },
  means: ProofMeans,
): Promise<UserId> {
  const { isProven } = asked;
  const placeholder = `account-${means.random(PLACEHOLDER_BYTES).toString("hex")}@${CLAIM_EMAIL_DOMAIN}`;
  const email = asked.email ?? placeholder;
  const canMail = means.queueMail !== undefined;
  if ((await claimAddress(tx, email, { isProven, canMail })) === "taken") throw addressTaken(email);
  const username = fit(asked.name, USERNAME_LENGTH_MAX) || "user";
  const userId = await insertUser(tx, { email, username, provenBy: isProven ? "issuer" : undefined });
  if (userId === undefined) throw addressTaken(email);
  const fullname = fit(asked.fullname, FULLNAME_LENGTH_MAX);
  if (fullname !== "") await updateUser(tx, userId, { fullname });
  if (!isProven && asked.email !== undefined) await mailToken(tx, { id: userId, email }, means);
  return userId;
}

/** A name of another system as far as it fits here. */
function fit(text: string, lengthMax: number): string {
  return text
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cs}]/gu, "")
    .slice(0, lengthMax)
    .toWellFormed()
    .trim();
}

function addressTaken(email: string) {
  return conflict("user_exists", `Another account has the address ${email}.`);
}
