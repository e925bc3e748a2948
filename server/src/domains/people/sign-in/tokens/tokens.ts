import { createHash } from "node:crypto";
import { invalid, type AppError } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { RandomBytes } from "../../accounts/index.ts";
import { insertToken, takeToken, type SignInToken, type TokenPurpose } from "./token-store.ts";

const TOKEN_BYTES = 32;
const VALID_MS: Readonly<Record<TokenPurpose, number>> = {
  link: 15 * 60_000,
  reset: 60 * 60_000,
  invitation: 7 * 86_400_000,
};

/** A token with its secret, which is shown once and stored as a hash. */
export type IssuedToken = SignInToken & { readonly secret: string };

export async function issueToken(
  tx: Tx,
  token: {
    readonly purpose: TokenPurpose;
    readonly userId?: UserId;
    readonly email?: string | undefined;
    readonly createdById?: UserId;
  },
  random: RandomBytes,
): Promise<IssuedToken> {
  const secret = random(TOKEN_BYTES).toString("base64url");
  const expiresAt = new Date(tx.now.getTime() + VALID_MS[token.purpose]);
  return { ...(await insertToken(tx, { ...token, tokenSha256: hashOf(secret), expiresAt })), secret };
}

/** Uses a token up. One refusal for a token that never was, was used or revoked, or is over. */
export async function spendToken(tx: Tx, purpose: TokenPurpose, secret: string): Promise<SignInToken> {
  const token = await takeToken(tx, { purpose, tokenSha256: hashOf(secret) });
  if (token === undefined) throw noSuchToken();
  return token;
}

/** The page of the console that takes a token, which stands behind the `#`: no server and no log gets it from there. */
const PAGES: Readonly<Record<TokenPurpose, string>> = {
  link: "/sign-in",
  invitation: "/sign-up",
  reset: "/reset-password",
};

export const pathOf = (purpose: TokenPurpose, secret: string) => `${PAGES[purpose]}#token=${secret}`;

function noSuchToken(): AppError {
  return invalid("token", "This link is unknown, used, revoked or too old. Ask for another one.", "no_such_token");
}

function hashOf(secret: string): Buffer {
  return createHash("sha256").update(`token ${secret}`).digest();
}
