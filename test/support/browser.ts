import assert from "node:assert/strict";
import type { TestApp } from "./app.ts";
import type { TestAnswer, TestCall } from "./network/http.ts";

/** The value of the session cookie that an answer sets. */
export function cookieOf({ headers, text }: TestAnswer): string {
  const value = /^berth_session=([^;]+);/.exec(String(headers["set-cookie"]))?.[1];
  assert.ok(value !== undefined, `the answer sets no session: ${text}`);
  return value;
}

/** A call with the cookie of a session. */
export const browse = (app: Pick<TestApp, "call">, cookie: string, call: TestCall): Promise<TestAnswer> =>
  app.call({ ...call, headers: { ...call.headers, cookie: `berth_session=${cookie}` } });

/** The value of the cookie of a session that a browser opens. */
export async function signInBrowser(app: Pick<TestApp, "call">, body: object): Promise<string> {
  return cookieOf(await app.call({ method: "POST", url: "/api/v0/auth/browser/", body }));
}
