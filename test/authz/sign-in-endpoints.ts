// The rows of sessions and second factors. The owner has an app, a phone and backup codes.
import { randomBytes, randomUUID } from "node:crypto";
import { createEncryption } from "../../server/src/base/encryption.ts";
import type { Tx } from "../../server/src/db/transaction.ts";
import { newCookieKey, newKey } from "../../server/src/domains/people/accounts/keys/rules/keys.ts";
import { insertSession } from "../../server/src/domains/people/accounts/keys/session-store.ts";
import { setTfa } from "../../server/src/domains/people/accounts/users/sign-in-store.ts";
import { codeKey, hashCode, newBackupCodes } from "../../server/src/domains/people/sign-in/rules/codes.ts";
import { fromBase32, toBase32 } from "../../server/src/domains/people/sign-in/rules/base32.ts";
import { stepAt, totp } from "../../server/src/domains/people/sign-in/rules/totp.ts";
import { openChallenge } from "../../server/src/domains/people/sign-in/tfa/challenges.ts";
import { issueToken } from "../../server/src/domains/people/sign-in/tokens/tokens.ts";
import {
  insertMethod,
  listMethods,
  type StoredKind,
} from "../../server/src/domains/people/sign-in/tfa/method-store.ts";
import { methodContext } from "../../server/src/domains/people/sign-in/tfa/views.ts";
import { inTransaction, type TestCaller } from "../support/fixtures.ts";
import { PASSWORD } from "../support/second-factors.ts";
import { ABSENT, at, plain, type Row } from "./row.ts";
import { inTeam } from "./team-endpoints.ts";
import { WORLD_SECRET, type World } from "./world.ts";

const HOUR_MS = 3_600_000;
/** Methods that rows make, and that later rows clear away. */
const ROW_LABEL = "for a row";

async function addMethod(tx: Tx, { id: userId }: TestCaller, kind: StoredKind, label: string = ROW_LABEL) {
  const clear = kind === "sms" ? `+4670${String(userId).padStart(7, "0")}` : toBase32(randomBytes(20));
  const encryptedSecret = createEncryption(WORLD_SECRET, randomBytes).encrypt(clear, methodContext(userId, kind));
  const isPrimary = (await listMethods(tx.db, userId)).length === 0;
  return insertMethod(tx, { userId, kind, label, encryptedSecret, isPrimary, lastStep: undefined });
}

/** The phone of a user with a second factor, ready for another row: nothing was sent yet, no lock holds. */
async function aPhone({ database }: World, user: TestCaller): Promise<number> {
  await database.pool.query("delete from tfa_challenges where user_id = $1", [user.id]);
  await database.pool.query("delete from tfa_sends where user_id = $1", [user.id]);
  await database.pool.query("delete from tfa_locks where user_id = $1", [user.id]);
  await database.pool.query(
    "update tfa_methods set deleted_at = now() where user_id = $1 and label = $2 and not is_primary",
    [user.id, ROW_LABEL],
  );
  return inTransaction(database, async (tx) => {
    await setTfa(tx, user.id, true);
    const known = (await listMethods(tx.db, user.id)).find(({ kind }) => kind === "sms");
    return known?.id ?? (await addMethod(tx, user, "sms", "phone"));
  });
}

/** A method beside the phone. */
async function anApp(world: World, user: TestCaller): Promise<number> {
  await aPhone(world, user);
  return inTransaction(world.database, (tx) => addMethod(tx, user, "totp"));
}

async function aBackupCode(world: World, user: TestCaller): Promise<string> {
  await aPhone(world, user);
  return anotherBackupCode(world, user);
}

/** A backup code of the user, beside the methods that a row has made. */
async function anotherBackupCode({ database }: World, { id }: TestCaller): Promise<string> {
  const [code = ""] = newBackupCodes(randomBytes);
  const hash = hashCode(codeKey(WORLD_SECRET), `backup ${id}`, code);
  const text = "insert into tfa_backup_codes (user_id, code_hmac, created_at) values ($1, $2, now())";
  await database.pool.query(text, [id, hash]);
  return code;
}

/** The value of the cookie of a browser in which this person is signed in. */
async function aCookie({ database }: World, { id: userId }: TestCaller): Promise<string> {
  const key = newCookieKey(randomBytes);
  const expiresAt = new Date(Date.now() + HOUR_MS);
  await inTransaction(database, (tx) =>
    insertSession(tx, {
      ...{ userId, memberId: undefined, key, kind: "session", permissions: undefined },
      ...{ ipAddress: "192.0.2.1", expiresAt },
    }),
  );
  return key.secret;
}

const aSession = ({ database }: World, user: TestCaller): Promise<number> =>
  inTransaction(database, (tx) =>
    insertSession(tx, {
      userId: user.id,
      memberId: undefined,
      key: newKey(randomBytes),
      kind: "session",
      permissions: undefined,
      ipAddress: "192.0.2.9",
      expiresAt: new Date(Date.now() + HOUR_MS),
    }),
  );

const signedUp = new WeakMap<World, Promise<string>>();

/** An account with a password; one for all rows, since a password takes longer than all the rest. */
function aName(world: World): Promise<string> {
  const username = randomUUID();
  const make = async () => {
    const body = { username, email: `${username}@example.com`, password: PASSWORD };
    await world.send("POST", at("/api/v0/users/", body));
    return username;
  };
  const known = signedUp.get(world) ?? make();
  signedUp.set(world, known);
  return known;
}

/** A call on a method of the account, by the field that names it. */
const onMethod = (
  field: string,
  make: (world: World, user: TestCaller) => Promise<number>,
  aim: (world: World, id: number) => Promise<{ readonly path: string; readonly body: unknown }>,
): Row => ({
  needs: "user_write",
  call: async (world) => aim(world, await make(world, world.owner)),
  aims: async (world) => ({
    [field]: {
      own: await aim(world, await make(world, world.owner)),
      foreign: await aim(world, await make(world, world.stranger)),
      absent: await aim(world, ABSENT),
    },
  }),
});

const sendSms = (path: string): Row => ({
  needs: "optional user_write",
  call: async (world) => at(path, { tfa_method_id: await aPhone(world, world.owner) }),
});

const sendAgain = (path: string): Row => ({
  needs: "optional user_write",
  call: async (world) => {
    const id = await aPhone(world, world.owner);
    await world.done("POST", at("/api/v0/tfa/sms/", { tfa_method_id: id }), world.owner);
    await world.database.pool.query("update tfa_challenges set code_sent_at = code_sent_at - interval '2 minutes'");
    return at(path, { tfa_method_id: id });
  },
});

const confirm = (path: string): Row => ({
  needs: "user_write",
  call: async (world) => {
    const { owner } = world;
    const code = await aBackupCode(world, owner);
    await world.done("POST", at("/api/v0/tfa/authorize-new-method/", { backup_code: code }), owner);
    const { secret } = await world.done("POST", at("/api/v0/tfa/totp-setup/", {}), owner);
    const bytes = fromBase32(String(secret)) ?? Buffer.alloc(0);
    const body = { tfa_method: "totp", secret, code: totp(bytes, stepAt(new Date(Date.now()))), label: ROW_LABEL };
    return at(path, body);
  },
});

export const signInEndpoints = {
  "PUT /api/v0/users/current/": {
    needs: "public",
    call: async (world) => at("/api/v0/users/current/", { username: await aName(world), password: PASSWORD }),
  },
  "DELETE /api/v0/users/current/": plain("user_read", "/api/v0/users/current/"),
  "GET /api/v0/auth/sessions/": {
    needs: "user_read",
    call: async (world) => {
      await aSession(world, world.owner);
      return at("/api/v0/auth/sessions/");
    },
  },
  // The answer does not tell whether there was such a session.
  "DELETE /api/v0/auth/sessions/": {
    needs: "user_write",
    call: async (world) => at("/api/v0/auth/sessions/", { key_id: await aSession(world, world.owner) }),
  },
  "GET /api/v0/auth/browser/settings/": plain("public", "/api/v0/auth/browser/settings/"),
  "POST /api/v0/auth/browser/": {
    needs: "public",
    call: async (world) => at("/api/v0/auth/browser/", { username: await aName(world), password: PASSWORD }),
  },
  "POST /api/v0/auth/browser/tfa/": {
    needs: "public",
    call: async (world) => {
      const { owner } = world;
      const backupCode = await aBackupCode(world, owner);
      const { secret } = await inTransaction(world.database, (tx) =>
        openChallenge(tx, { userId: owner.id, purpose: "sign_in" }, { random: randomBytes }),
      );
      return at("/api/v0/auth/browser/tfa/", { secret, backup_code: backupCode });
    },
  },
  "POST /api/v0/auth/browser/team/": {
    needs: "public",
    call: async (world) => ({
      ...at("/api/v0/auth/browser/team/", {}),
      headers: { cookie: `berth_session=${await aCookie(world, world.owner)}`, "x-berth-console": "1" },
    }),
  },
  "DELETE /api/v0/auth/browser/": plain("public", "/api/v0/auth/browser/"),
  "POST /api/v0/auth/browser/sign-up/": {
    needs: "public",
    call: () =>
      at("/api/v0/auth/browser/sign-up/", { email: `${randomUUID().slice(0, 13)}@example.com`, password: PASSWORD }),
  },
  "POST /api/v0/auth/browser/reset/": plain("public", "/api/v0/auth/browser/reset/", { email: "nobody@example.com" }),
  "POST /api/v0/auth/browser/reset/confirm/": {
    needs: "public",
    call: async ({ database, stranger }) => {
      const made = { purpose: "reset", userId: stranger.id } as const;
      const { secret } = await inTransaction(database, (tx) => issueToken(tx, made, randomBytes));
      return at("/api/v0/auth/browser/reset/confirm/", { token: secret, password: PASSWORD });
    },
  },
  "PUT /api/v0/users/current/password/": {
    needs: "user_write",
    call: async (world) =>
      at("/api/v0/users/current/password/", {
        new_password: PASSWORD,
        backup_code: await aBackupCode(world, world.owner),
      }),
  },
  // A key sees nobody: the view is bound to the session of a browser (test/authz/view.test.ts).
  "POST /api/v0/admin/users/{user_id}/see_as/": {
    needs: "admin",
    call: ({ owner }) => at(`/api/v0/admin/users/${owner.id}/see_as/`, { reason: "Case 12" }),
    answers: 403,
  },
  "DELETE /api/v0/auth/browser/view/": plain("public", "/api/v0/auth/browser/view/"),
  "POST /api/v0/admin/sign_in_links/": plain("admin", "/api/v0/admin/sign_in_links/", {}),
  "POST /api/v0/admin/invitations/": plain("admin", "/api/v0/admin/invitations/", {}),
  "GET /api/v0/admin/invitations/": plain("admin", "/api/v0/admin/invitations/"),
  "DELETE /api/v0/admin/invitations/{id}/": {
    needs: "admin",
    call: async ({ database }) => {
      const { id } = await inTransaction(database, (tx) => issueToken(tx, { purpose: "invitation" }, randomBytes));
      return at(`/api/v0/admin/invitations/${id}/`);
    },
  },
  "GET /api/v0/team/sessions/": inTeam("team_write", "/api/v0/team/sessions/"),
  "GET /api/v0/auth/pubkeys/": plain("public", "/api/v0/auth/pubkeys/"),

  "GET /api/v0/tfa/status/": plain("user_read", "/api/v0/tfa/status/"),
  "POST /api/v0/tfa/": {
    needs: "optional user_write",
    call: async (world) => at("/api/v0/tfa/", { backup_code: await aBackupCode(world, world.owner) }),
  },
  "DELETE /api/v0/tfa/": onMethod("target_id", anApp, async (world, id) => ({
    path: "/api/v0/tfa/",
    body: { backup_code: await anotherBackupCode(world, world.owner), target_id: id },
  })),
  "POST /api/v0/tfa/email/": {
    needs: "optional user_write",
    call: async (world) => {
      await aPhone(world, world.owner);
      return at("/api/v0/tfa/email/", {});
    },
  },
  "POST /api/v0/tfa/sms/": sendSms("/api/v0/tfa/sms/"),
  "POST /api/v0/tfa/test/": sendSms("/api/v0/tfa/test/"),
  "POST /api/v0/tfa/sms/resend/": sendAgain("/api/v0/tfa/sms/resend/"),
  "POST /api/v0/tfa/resend/": sendAgain("/api/v0/tfa/resend/"),
  "POST /api/v0/tfa/totp-setup/": plain("user_write", "/api/v0/tfa/totp-setup/"),
  "POST /api/v0/tfa/authorize-new-method/": {
    needs: "user_write",
    call: async (world) =>
      at("/api/v0/tfa/authorize-new-method/", { backup_code: await aBackupCode(world, world.owner) }),
  },
  "PUT /api/v0/tfa/authorize-new-method/": {
    needs: "user_write",
    call: async (world) => {
      const id = await aPhone(world, world.owner);
      const path = "/api/v0/tfa/authorize-new-method/";
      const { secret } = await world.done("POST", at(path, { tfa_method: "sms", tfa_method_id: id }), world.owner);
      return at(path, { secret, code: world.texts.at(-1)?.text.slice(0, 6) });
    },
  },
  "POST /api/v0/tfa/confirm-new/": confirm("/api/v0/tfa/confirm-new/"),
  "POST /api/v0/tfa/test-submit/": confirm("/api/v0/tfa/test-submit/"),
  "PUT /api/v0/tfa/update/": onMethod("tfa_method_id", aPhone, async (_world, id) => ({
    path: "/api/v0/tfa/update/",
    body: { tfa_method_id: id, label: randomUUID().slice(0, 30) },
  })),
  // The owner keeps theirs, which other rows need.
  "DELETE /api/v0/admin/users/{user_id}/tfa/": {
    needs: "admin",
    call: async (world) => at(`/api/v0/admin/users/${world.stranger.id}/tfa/`),
  },
  "PUT /api/v0/tfa/regen-backup-codes/": {
    needs: "user_write",
    call: async (world) =>
      at("/api/v0/tfa/regen-backup-codes/", { backup_code: await aBackupCode(world, world.owner) }),
  },
} satisfies Readonly<Record<string, Row>>;
