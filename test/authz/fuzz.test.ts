// Random requests to every operation of the OpenAPI document: every answer is one that is documented.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { aCaller } from "../support/fixtures.ts";
import { TEST_SEED } from "../support/seed.ts";
import { endpoints } from "./endpoints.ts";
import type { Row } from "./row.ts";
import { aTeamOf } from "./team-endpoints.ts";
import { listOperations, type ApiOperation } from "./openapi.ts";
import { anyRequest, type AnyRequest } from "./requests.ts";
import { anInstance, makeWorld, type World } from "./world.ts";

/** Operations whose answer is no JSON on success, with its content type. */
const FILES: Readonly<Record<string, string>> = {
  "GET /api/v0/admin/documents/export/": "text/csv",
  "GET /api/v0/charges/export/": "text/csv",
  "GET /api/v0/events/": "text/event-stream",
  "GET /api/v0/instances/{id}/logs/": "text/event-stream",
  "GET /api/v0/invoices/export/": "text/csv",
  "GET /api/v0/billing/documents/{number}/page/": "text/html",
  "GET /api/v0/billing/documents/{number}/pdf/": "application/pdf",
  "GET /api/v0/invoice_documents/{number}/page/": "text/html",
  "GET /api/v0/invoice_documents/{number}/pdf/": "application/pdf",
};

/** The path of an answer that does not end by itself. */
const ENDLESS = /^\/+api\/+v0\/+(?:events|instances\/+[^/]+\/+logs)\/*$/;

/** A number and not a time, so that a busy machine sends as many, and a seed the same ones again. */
const REQUESTS = Number(process.env["BERTH_FUZZ_REQUESTS"] ?? 4_000);
/** The limit for all requests of a test: a very busy machine answers ten in a second. */
const TIMEOUT_MS = 60_000 + 200 * REQUESTS;
/** Answers that are no JSON object by the contract: a bare array and a bare text. */
const BARE: Readonly<Record<string, "array" | "string">> = {
  "GET /api/v0/audit_logs/": "array",
  "DELETE /api/v0/auth/apikeys/{id}/": "string",
  "GET /api/v0/commands/schedule_job/": "array",
  "GET /api/v0/commands/schedule_job/{id}/runs/": "array",
  "GET /api/v0/invoices/": "array",
  "GET /api/v0/machines/{id}/": "array",
  "GET /api/v0/machines/{id}/reports/": "array",
  "GET /api/v0/machines/errors/": "array",
  "GET /api/v0/machines/maintenances/": "array",
  "POST /api/v0/machines/maintenances/": "array",
  "GET /api/v0/ssh/": "array",
  "GET /api/v0/team/members/": "array",
  "GET /api/v0/team/roles/": "array",
  "GET /api/v0/team/roles-full/": "array",
  "GET /api/v0/overlay/": "array",
  "GET /api/v0/users/cloud/": "array",
  "GET /api/v0/users/cloud_integrations/": "array",
  "POST /get_autogroup_workers/": "array",
  "POST /get_endpoint_workers/": "array",
};

/** Operations that end the key that calls them. */
const ENDS_ITS_KEY: ReadonlySet<string> = new Set(["api.apikey.reset", "api.team.delete"]);

const rows: Readonly<Record<string, Row>> = endpoints;

/** True when the server takes the path for that of events, which a path with dots in it may become. */
function isEndless(path: string): boolean {
  return ENDLESS.test(URL.parse(`http://localhost${path}`)?.pathname ?? path);
}

describe("random requests", () => {
  let world: World;
  let operations: readonly ApiOperation[];
  /** The keys of the requests: a person's, and one of a team for what only teams have. */
  const secrets = { person: "", team: "" };
  const cleanups: (() => Promise<void>)[] = [];
  const seen = new Map<string, Map<number, number>>();

  before(async () => {
    world = await makeWorld({ after: (fn) => void cleanups.push(fn) });
    operations = await listOperations();
    await renew("person");
    await renew("team");
    // Something of each kind under the small ids that requests name most.
    for (let round = 0; round < 3; round += 1) {
      for (const name of MAKERS) {
        const row: Row = endpoints[name];
        const user = row.needs === "admin" ? world.admin : world.owner;
        await world.done(name.split(" ")[0] ?? "", await row.call(world), user);
      }
      await anInstance(world, world.owner, { price: 1 });
    }
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  const renew = async (holder: keyof typeof secrets) => {
    // A team of somebody new, since random requests delete keys of the owner.
    if (holder === "team") secrets.team = (await aTeamOf(world, await aCaller(world.database))).secret;
    else secrets.person = await world.keyOf(undefined);
  };
  const send = async ({ operation, path, headers, payload }: AnyRequest, by: string) =>
    world.app.http.app.inject({
      method: operation.method as "GET",
      url: isEndless(path) ? `${path}${path.includes("?") ? "&" : "?"}follow=false` : path,
      remoteAddress: "192.0.2.9",
      headers: { authorization: `Bearer ${by}`, ...headers },
      ...(payload === undefined ? {} : { payload }),
    });

  const check = async (request: AnyRequest): Promise<void> => {
    const { operation } = request;
    const row = rows[operation.name];
    const isAdmin = row?.needs === "admin";
    const holder = operation.path.startsWith("/api/v0/team/") ? "team" : "person";
    const response = await send(request, isAdmin ? world.admin.secret : secrets[holder]);
    const { statusCode: status, body: text } = response;
    const counts = seen.get(operation.name) ?? new Map<number, number>();
    seen.set(operation.name, counts.set(status, (counts.get(status) ?? 0) + 1));
    // It may have replaced or deleted its own key, which is a fine answer to a fine request.
    const isKeyGone = status === 401 || (ENDS_ITS_KEY.has(operation.operationId) && status === 200);
    if (isKeyGone && !isAdmin) await renew(holder);
    // No loop runs in this world, which readiness says truly.
    const isTrue503 = status === 503 && operation.operationId === "api.health.ready";
    const isTrue501 = status === 501 && row?.answers === 501;
    assert.ok(status < 500 || isTrue503 || isTrue501, `${status} ${text}\n${lastErrors(world)}`);
    const fileType = status === 200 ? FILES[operation.name] : undefined;
    if (fileType !== undefined && isPathOf(operation, request.path)) {
      assert.equal(String(response.headers["content-type"]).split(";")[0], fileType);
      return;
    }
    // A path with dots in it has become that of events.
    if (status === 200 && isEndless(request.path)) return;
    assert.equal(response.headers["content-type"], "application/json", text);
    const body: unknown = JSON.parse(text);
    // A path that the random part made another route's, or none's, is answered by that one.
    const isOwn = isPathOf(operation, request.path);
    if (status === 200 && !isOwn) return;
    const kind = status === 200 ? (BARE[operation.name] ?? "object") : "object";
    assert.equal(Array.isArray(body) ? "array" : typeof body, kind, text);
    if (status === 404 || !isOwn) return;
    assert.equal(operation.problemOf(status, body), undefined, text);
  };

  test(
    `every answer is declared, JSON, and no failure of ours (seed ${TEST_SEED})`,
    { timeout: TIMEOUT_MS },
    async () => {
      console.log(`fuzz seed ${TEST_SEED} (BERTH_TEST_SEED, BERTH_FUZZ_REQUESTS)`);
      await fc.assert(fc.asyncProperty(anyRequest(operations), check), {
        seed: TEST_SEED,
        numRuns: REQUESTS,
        endOnFailure: false,
      });
      const total = [...seen.values()].reduce(
        (sum, counts) => sum + [...counts.values()].reduce((a, b) => a + b, 0),
        0,
      );
      const reached = [...seen].filter(([, counts]) => counts.has(200)).length;
      console.log(
        `${total} requests; ${seen.size} of ${operations.length} operations called, ${reached} of them with success`,
      );
      assert.equal(seen.size, operations.length, "some operation was never called");
      const built = operations.filter(({ name }) => rows[name]?.answers === undefined);
      assert.ok(reached > built.length / 2, "too few requests were good enough to be served");
    },
  );

  test("the books still balance, and no device has two tenants", async () => {
    const { rows } = await world.database.pool.query(
      `select (select sum(balance_nanos) from ledger_accounts)::text as sum,
         (select count(*) from ledger_accounts where balance_nanos - held_nanos < floor_nanos)::int as overdrawn,
         (select count(*) from (select from leases where released_at is null group by device_id having count(*) > 1) d)::int as twice`,
    );
    assert.deepEqual(rows, [{ sum: "0", overdrawn: 0, twice: 0 }]);
  });
});

const MAKERS = [
  "POST /api/v0/template/",
  "POST /api/v0/endptjobs/",
  "POST /api/v0/auth/apikeys/",
  "GET /api/v0/auth/sessions/",
  "PUT /api/v0/tfa/update/",
  "PUT /api/v0/ssh/{id}/",
  "POST /api/v0/commands/schedule_job/",
  "POST /api/v0/workergroups/",
  "POST /api/v0/admin/disks/",
  "POST /api/v0/network_volume/",
  "POST /api/v0/volumes/",
  "PUT /api/v0/volumes/",
  "PUT /api/v0/asks/{id}/",
] as const satisfies readonly (keyof typeof endpoints)[];

/** True when the path is an instance of the operation's template, and of no longer one. */
function isPathOf(operation: ApiOperation, path: string): boolean {
  // `.` and `..`, plain or encoded, lead elsewhere before any route is looked for.
  if (/\/(\.|%2e){1,2}(\/|\?|$)/i.test(path)) return false;
  const pattern = operation.path.replace(/\/$/, "").replace(/\{\w+\}/g, "[^/?]+");
  return new RegExp(`^/*${pattern.slice(1).replaceAll("/", "/+")}/*(\\?|$)`).test(path);
}

function lastErrors({ logged }: World): string {
  return logged
    .filter((line) => line.includes('"level":50'))
    .slice(-1)
    .join("\n")
    .slice(0, 3000);
}
