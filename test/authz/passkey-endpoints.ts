// The rows of passkeys and of single sign-on.
import { createHash, randomBytes } from "node:crypto";
import { asId, type UserId } from "../../server/src/base/ids.ts";
import { insertPasskeyChallenge } from "../../server/src/domains/people/sign-in/passkeys/challenge-store.ts";
import { insertPasskey } from "../../server/src/domains/people/sign-in/passkeys/store.ts";
import { inTransaction, type TestCaller } from "../support/fixtures.ts";
import { SITE } from "../support/sign-in/passkeys.ts";
import { SoftPasskey } from "../support/sign-in/soft-authenticator.ts";
import { at, onObject, plain, type Row } from "./row.ts";
import type { World } from "./world.ts";

const PATH = "/api/v0/auth/passkeys/";
const MINUTE_MS = 60_000;

const sha256 = (value: string | Buffer) => createHash("sha256").update(value).digest();

/** A passkey of the user beside another one, so that it is not the only way into the account. */
async function aPasskey(world: World, { id: userId }: Pick<TestCaller, "id">, passkey = new SoftPasskey(SITE)) {
  const known = { userId, publicKey: passkey.publicKey, userHandle: Buffer.from("handle"), label: "for a row" };
  const counted = { transports: [], signCount: 0, isSynced: false };
  return inTransaction(world.database, async (tx) => {
    await insertPasskey(tx, { ...known, ...counted, credentialId: randomBytes(32) });
    return (await insertPasskey(tx, { ...known, ...counted, credentialId: passkey.id })) ?? 0;
  });
}

/** An answer of a passkey of its own account, in the browser that asked for the challenge. */
async function aSignIn(world: World) {
  const passkey = new SoftPasskey(SITE);
  await aPasskey(world, { id: asId<UserId>(world.stranger.id) }, passkey);
  const [challenge, browser] = [randomBytes(32), randomBytes(32).toString("base64url")];
  await inTransaction(world.database, (tx) =>
    insertPasskeyChallenge(tx, {
      challengeSha256: sha256(challenge),
      browserSha256: sha256(browser),
      userId: undefined,
      expiresAt: new Date(tx.now.getTime() + MINUTE_MS),
    }),
  );
  const response = passkey.get({ challenge: challenge.toString("base64url") });
  return { ...at(`${PATH}sign-in/verify/`, { response }), headers: { cookie: `berth_passkey=${browser}` } };
}

const made = new SoftPasskey(SITE).create({ challenge: "AAAA", user: { id: "AAAA" } });

export const passkeyEndpoints = {
  "GET /api/v0/auth/passkeys/": plain("user_read", PATH),
  // Passkeys are added in a session: a key alone does not suffice.
  "POST /api/v0/auth/passkeys/options/": { ...plain("user_write", `${PATH}options/`), answers: 403 },
  "POST /api/v0/auth/passkeys/": {
    needs: "user_write",
    call: () => ({ ...at(PATH, { label: "laptop", response: made }), headers: { cookie: "berth_passkey=any" } }),
    answers: 403,
  },
  "POST /api/v0/auth/passkeys/sign-in/options/": plain("public", `${PATH}sign-in/options/`),
  "POST /api/v0/auth/passkeys/sign-in/verify/": { needs: "public", call: aSignIn },
  "PUT /api/v0/auth/passkeys/{id}/": onObject("user_write", "id", aPasskey, (id) =>
    at(`${PATH}${id}/`, { label: "laptop" }),
  ),
  "DELETE /api/v0/auth/passkeys/{id}/": onObject("user_write", "id", aPasskey, (id) => at(`${PATH}${id}/`)),
  // This server has no issuer.
  "GET /api/v0/auth/sso/start/": { ...plain("public", "/api/v0/auth/sso/start/"), answers: 404 },
  "GET /api/v0/auth/sso/callback/": { ...plain("public", "/api/v0/auth/sso/callback/"), answers: 404 },
  "GET /api/v0/auth/sso/problems/": plain("public", "/api/v0/auth/sso/problems/"),
} satisfies Readonly<Record<string, Row>>;
