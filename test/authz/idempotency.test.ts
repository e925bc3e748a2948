// Every operation that changes something, asked for again under the same Idempotency-Key.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { endpoints } from "./endpoints.ts";
import { callerOf, type Row } from "./row.ts";
import { makeWorld, type Target, type World } from "./world.ts";

/** Operations that look something up, with the question in the body of a POST or PUT. */
const SEARCHES: ReadonlySet<string> = new Set([
  "POST /api/v0/bundles/",
  "PUT /api/v0/bundles/{id}/",
  "PUT /api/v0/bundles_bid_price/{id}/",
  "PUT /api/v0/search/asks/",
  "PUT /api/v0/search/clusters/",
  "POST /api/v0/volumes/search/",
  "POST /api/v0/network_volumes/search/",
  "POST /api/v0/contracts/fetch/",
  "POST /api/v1/templates/fetch-tags/",
  "POST /api/v1/templates/validate-auth/",
  "POST /api/v0/machines/maintenances/",
  "POST /get_endpoint_workers/",
  "POST /get_workergroup_workers/",
  "POST /get_autogroup_workers/",
  "POST /api/v0/serverless/metrics/",
  "POST /api/v0/endptjobs/{id}/simulate/",
  "POST /get_endpoint_logs/",
  "POST /get_workergroup_logs/",
  "POST /get_autogroup_logs/",
]);
/** Operations that end their caller's key: with it a repetition is refused, and with another one it is new. */
const END_THEIR_KEY: ReadonlySet<string> = new Set(["PUT /api/v0/commands/reset_apikey/", "DELETE /api/v0/team/"]);
/** Operations without an account's key. Each has a repetition of its own, which its own tests cover. */
const HAVE_NO_KEY: ReadonlySet<string> = new Set([
  "POST /api/v0/agent/join/",
  "POST /route/",
  "PUT /api/v0/users/current/",
  "POST /api/v0/auth/browser/",
  "DELETE /api/v0/auth/browser/",
  "POST /api/v0/auth/browser/tfa/",
  "POST /api/v0/auth/browser/team/",
  "DELETE /api/v0/auth/browser/view/",
  "POST /api/v0/auth/browser/sign-up/",
  "POST /api/v0/auth/browser/reset/",
  "POST /api/v0/auth/browser/reset/confirm/",
  "POST /api/v0/auth/passkeys/sign-in/options/",
  "POST /api/v0/auth/passkeys/sign-in/verify/",
  "POST /worker_status/",
  "POST /delete_requests/",
]);
/**
 * Changes of files on a host, which no transaction of the database holds. Their repetition is refused, since the name is taken
 * or gone then.
 */
const CHANGE_FILES: ReadonlySet<string> = new Set([
  "POST /api/v0/instances/{id}/files/folders/",
  "PUT /api/v0/instances/{id}/files/content/",
  "DELETE /api/v0/instances/{id}/files/",
]);

describe("a request repeated under its Idempotency-Key", () => {
  let world: World;
  const cleanups: (() => Promise<void>)[] = [];
  before(async () => {
    world = await makeWorld({ after: (fn) => void cleanups.push(fn) });
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  const changes = Object.entries<Row>(endpoints).filter(
    // An operation that is not built changes nothing, nor does one that no key may call.
    ([name, { answers }]) => !name.startsWith("GET ") && !SEARCHES.has(name) && answers !== 501 && answers !== 403,
  );
  for (const [name, row] of changes) {
    const [method = ""] = name.split(" ");
    const ask = (target: Target, key: string, secret: string) =>
      world.app.http.app.inject({
        method: method as "PUT",
        url: target.path,
        headers: {
          authorization: `Bearer ${secret}`,
          "idempotency-key": key,
          "content-type": "application/json",
        },
        payload: JSON.stringify(target.body ?? {}),
      });

    if (END_THEIR_KEY.has(name) || HAVE_NO_KEY.has(name) || CHANGE_FILES.has(name)) continue;
    test(`${name}: one effect, the same bytes; another request under that key is refused`, async () => {
      const [target, key] = [await row.call(world), randomUUID()];
      const { secret } = await callerOf(row, world);
      const answers = await Promise.all([ask(target, key, secret), ask(target, key, secret)]);
      const contents = await world.contents();
      const again = await ask(target, key, secret);
      for (const answer of [...answers, again]) {
        assert.equal(answer.statusCode, 200, answer.body);
        assert.equal(answer.body, answers[0].body);
      }
      const other = await ask({ ...target, body: { ...asObject(target.body), unasked: "for" } }, key, secret);
      assert.equal(other.statusCode, 409, other.body);
      assert.equal(other.json().error, "idempotency_key_reused");
      assert.equal(await world.contents(), contents, "the repetition changed something");
    });
  }
});

function asObject(body: unknown): object {
  return typeof body === "object" && body !== null ? body : {};
}
