import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { TestApp } from "../app.ts";
import { FakeHost, type FakeHostOptions } from "./fake-host.ts";
import type { TestCaller } from "../fixtures.ts";
import type { TestAnswer } from "../network/http.ts";

/** A machine that wants to join, as its agent names it. */
export type TestJoiner = {
  readonly host_key: string;
  readonly fingerprint: string;
  readonly nonce: string;
};

export function aJoiner(overrides: Partial<TestJoiner> = {}): TestJoiner {
  return { host_key: `machine-${randomUUID()}`, fingerprint: randomUUID(), nonce: randomUUID(), ...overrides };
}

/** A join token of this user. */
export async function joinToken(world: TestApp, user: TestCaller, body: object = {}): Promise<string> {
  const answer = await world.call({ method: "POST", url: "/api/v0/hosts/tokens/", secret: user.secret, body });
  assert.equal(answer.status, 200, answer.text);
  return String(answer.body.token);
}

export function askToJoin(world: TestApp, token: string, joiner: TestJoiner): Promise<TestAnswer> {
  return world.call({ method: "POST", url: "/api/v0/agent/join/", body: { token, ...joiner } });
}

/** Joins, and must succeed; returns the credential. */
export async function join(world: TestApp, user: TestCaller, joiner: TestJoiner): Promise<string> {
  const answer = await askToJoin(world, await joinToken(world, user), joiner);
  assert.equal(answer.status, 200, answer.text);
  return String(answer.body.credential);
}

/** An agent with a credential that was made by joining; it is not connected yet. */
export function aJoinedHost(
  world: TestApp,
  credential: string,
  joiner: TestJoiner,
  more: Partial<FakeHostOptions> = {},
): FakeHost {
  const { origin, clock, env } = world;
  const { host_key: hostKey, fingerprint } = joiner;
  return new FakeHost({ origin, token: credential, clock, database: env.database, hostKey, fingerprint, ...more });
}
