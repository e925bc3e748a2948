import assert from "node:assert/strict";
import type { TestApp } from "../app.ts";
import type { TestCaller } from "../fixtures.ts";
import type { TestAnswer } from "../network/http.ts";

/** Asks for the logs of an instance. */
export function askLogs(world: TestApp, user: TestCaller, id: number, body: unknown = {}): Promise<TestAnswer> {
  return world.call({ method: "PUT", url: `/api/v0/instances/request_logs/${id}/`, secret: user.secret, body });
}

/** The path behind the `result_url` of an answer, which must be one. */
export function resultPath({ status, body, text }: TestAnswer): string {
  assert.equal(status, 200, text);
  const url = new URL(body.result_url);
  assert.match(url.pathname, /^\/api\/v0\/results\/[A-Za-z0-9_-]{43}\/$/);
  return url.pathname;
}

/** The answer to a client without a key. */
export async function fetchResult(world: TestApp, path: string) {
  const { status, text } = await world.call({ url: path });
  return { status, text };
}
