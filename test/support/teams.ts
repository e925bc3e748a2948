import { randomUUID } from "node:crypto";
import { asId, type ApiKeyId, type UserId } from "../../server/src/base/ids.ts";
import type { TestAnswer, TestCall } from "./network/http.ts";
import type { TestApp } from "./app.ts";
import type { TestCaller } from "./fixtures.ts";

type Speaking = Pick<TestApp, "call">;
type Method = NonNullable<TestCall["method"]>;

export type TestTeam = {
  readonly id: UserId;
  readonly name: string;
  readonly owner: TestCaller;
  /** The owner's key of the team, which came with it. */
  readonly secret: string;
  readonly keyId: ApiKeyId;
};

/** Sends a request with this key; `path` is the part behind `/api/v0`. */
export function ask(app: Speaking, secret: string, method: Method, path: string, body?: unknown): Promise<TestAnswer> {
  return app.call({ method, url: `/api/v0${path}`, secret, ...(body === undefined ? {} : { body }) });
}

/** The answer to a request that must succeed. */
export async function done(
  app: Speaking,
  secret: string,
  method: Method,
  path: string,
  body?: unknown,
): Promise<TestAnswer["body"]> {
  const answer = await ask(app, secret, method, path, body);
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

/** A team of this person, with the key that came with it. */
export async function aTeam(
  app: Speaking,
  owner: TestCaller,
  { name = `team ${randomUUID()}`, credit }: { readonly name?: string; readonly credit?: number } = {},
): Promise<TestTeam> {
  const made = await done(app, owner.secret, "POST", "/team/", { team_name: name, transfer_credit: credit });
  return { id: asId(made.id), name, owner, secret: made.key, keyId: asId(made.key_id) };
}

/** Invites the person and accepts; returns the new member's key of the team. */
export async function join(
  app: Speaking,
  team: Pick<TestTeam, "secret">,
  person: TestCaller,
  role = "member",
): Promise<string> {
  const { token } = await done(app, team.secret, "POST", "/team/invite/", { email: person.email, role });
  return (await done(app, person.secret, "GET", `/team/invite/${token}/`)).key;
}

/** A role with this document, and somebody who has it: the person, and the person's key of the team. */
export async function aMemberWith(
  app: Speaking & Pick<TestApp, "caller">,
  team: Pick<TestTeam, "secret">,
  permissions: unknown,
): Promise<{ readonly person: TestCaller; readonly secret: string; readonly role: string; readonly roleId: number }> {
  const role = `role ${randomUUID()}`;
  const { id } = await done(app, team.secret, "POST", "/team/roles/", { name: role, permissions });
  const person = await app.caller();
  return { person, secret: await join(app, team, person, role), role, roleId: id };
}
