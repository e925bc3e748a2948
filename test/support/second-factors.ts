import assert from "node:assert/strict";
import { fromBase32 } from "../../server/src/domains/people/sign-in/rules/base32.ts";
import { stepAt, totp } from "../../server/src/domains/people/sign-in/rules/totp.ts";
import type { TestAnswer } from "./network/http.ts";
import type { TestApp } from "./app.ts";
import { ask, done } from "./teams.ts";

export const PASSWORD = "correct horse battery staple";
const STEP_MS = 30_000;

export type Person = { readonly id: number; readonly name: string; readonly email: string; readonly secret: string };

let personCount = 0;

/** An account with a password; nobody has proven its address. */
export async function signUp(app: Pick<TestApp, "call">): Promise<Person> {
  personCount += 1;
  const [name, email] = [`signer${personCount}`, `signer${personCount}@corp.example`];
  const body = { email, username: name, password: PASSWORD };
  const answer = await app.call({ method: "POST", url: "/api/v0/users/", body });
  assert.equal(answer.status, 200, answer.text);
  return { id: answer.body.id, name, email, secret: answer.body.api_key };
}

/** The answer to a sign-in with name and password. */
export function signIn(
  app: Pick<TestApp, "call">,
  username: string,
  password = PASSWORD,
  more: { readonly from?: string; readonly body?: object } = {},
): Promise<TestAnswer> {
  const { from, body } = more;
  const call = { method: "PUT", url: "/api/v0/users/current/", body: { username, password, ...body } } as const;
  return app.call(from === undefined ? call : { ...call, from });
}

/** A call of the second factor without a key, with the secret of a sign-in. */
export const factor = (app: Pick<TestApp, "call">, body: object, path = "/tfa/") =>
  app.call({ method: "POST", url: `/api/v0${path}`, body });

/** The code that an authenticator app shows now, or some steps later. */
export function codeOf(app: Pick<TestApp, "clock">, secret: string, stepsLater = 0): string {
  const bytes = fromBase32(secret);
  assert.ok(bytes !== undefined);
  return totp(bytes, stepAt(app.clock.now()) + stepsLater);
}

/** Lets the time of the next code come. */
export const nextCode = (app: Pick<TestApp, "clock">) => app.clock.advance(STEP_MS);

export type WithApp = Person & {
  readonly app: string;
  readonly methodId: number;
  readonly backupCodes: readonly string[];
};

/** A person with an authenticator app, whose secret is `app`. Its present code is used up. */
export async function withAuthenticator(app: Pick<TestApp, "call" | "clock">): Promise<WithApp> {
  const person = await signUp(app);
  await done(app, person.secret, "POST", "/tfa/authorize-new-method/", { password: PASSWORD });
  const { secret } = await done(app, person.secret, "POST", "/tfa/totp-setup/", {});
  const confirmation = { tfa_method: "totp", secret, code: codeOf(app, secret), label: "phone" };
  const added = await done(app, person.secret, "POST", "/tfa/confirm-new/", confirmation);
  const { methods } = await done(app, person.secret, "GET", "/tfa/status/");
  return { ...person, app: secret, methodId: methods[0].id, backupCodes: added.backup_codes };
}

/** Status and error code of an answer. */
export const outcome = ({ status, body }: TestAnswer) => [status, body.error];

export { ask, done };
