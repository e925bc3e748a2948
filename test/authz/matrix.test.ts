// Every route × {no key, bad key, key without the scope, somebody else's object, own object}.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  PERMISSION_CATEGORIES,
  type PermissionCategory,
  type PermissionDocument,
} from "../../server/src/base/identity.ts";
import { isAct, isReading } from "../../server/src/base/acts.ts";
import type { TestAnswer } from "../support/network/http.ts";
import { until } from "../support/until.ts";
import { endpoints, hiddenEndpoints } from "./endpoints.ts";
import { UNRECORDED } from "./unrecorded.ts";
import { FORBIDDEN_BY_CONTRACT } from "./forbidden.ts";
import { missingMembers } from "./members/members.ts";
import { callerOf, type Needs, type Row } from "./row.ts";
import { listOperations } from "./openapi.ts";
import { anInstance, makeWorld, type Target, type World } from "./world.ts";

const rows: Readonly<Record<string, Row>> = { ...endpoints, ...hiddenEndpoints };
const described = new Map((await listOperations({ withFiles: true })).map(({ name, answer }) => [name, answer]));

/** Addresses of callers without a right key, in turn: one alone would show more wrong keys than an address may. */
const STRANGERS = ["192.0.2.31", "192.0.2.32", "192.0.2.33", "192.0.2.34"] as const;

describe("who may call what", () => {
  let strangerCount = 0;
  let world: World;
  const cleanups: (() => Promise<void>)[] = [];
  const badKeys = new Map<string, string>();
  let keyInside: string;

  before(async () => {
    world = await makeWorld({ after: (fn) => void cleanups.push(fn) });
    const deleted = await world.keyOf(undefined);
    await world.database.pool.query("update api_keys set deleted_at = now() where id = (select max(id) from api_keys)");
    badKeys.set("no key that ever was", "berth_0000000000000000000000000000000000000000000_00000000");
    badKeys.set("a deleted key", deleted);
    badKeys.set("not even the form of a key", "wrong");
    keyInside = (await anInstance(world, world.owner)).key;
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  /** Makes calls of which each must be refused with this status, and which leave everything as it was. */
  const refuse = async (status: number, method: string, ...calls: readonly Call[]): Promise<void> => {
    const before = await world.contents();
    for (const { target, secret } of calls) {
      const from = status === 401 ? STRANGERS[(strangerCount += 1) % STRANGERS.length] : undefined;
      const answer = await world.send(method, from === undefined ? target : { ...target, from }, secret);
      assert.equal(answer.status, status, `${method} ${target.path} ${JSON.stringify(target.body)}: ${answer.text}`);
      assert.equal(answer.headers["content-type"], "application/json");
      assert.deepEqual(
        [answer.body.success, typeof answer.body.error, typeof answer.body.msg],
        [false, "string", "string"],
      );
    }
    // Reading everything takes longer than the calls do: once for all of them.
    assert.equal(
      await world.contents(),
      before,
      `${method} ${calls[0]?.target.path} was refused and changed something`,
    );
  };

  test("each operation of the OpenAPI document, and each hidden route, has a row, and each row a route", async () => {
    const operations = await listOperations();
    const described = operations.map(({ name }) => name);
    assert.deepEqual(Object.keys(endpoints).toSorted(), described.toSorted());
    const ids = operations.map(({ operationId }) => operationId);
    assert.deepEqual(ids.toSorted(), [...new Set(ids)].toSorted(), "an operation id names one operation");
    // Pages for people and their files do nothing for a caller: they are the same bytes for everybody (test/console).
    const operated = world.routes.filter(({ operation }) => !operation.startsWith("console."));
    const registered = operated.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
    assert.deepEqual(Object.keys(rows).toSorted(), [...new Set(registered)].toSorted());
  });

  for (const [name, row] of Object.entries(rows)) {
    const [method = "", path = ""] = name.split(" ");
    const isOpen = row.needs === "public" || row.needs.startsWith("optional");
    const category = categoryOf(row.needs);

    describe(name, () => {
      after(() => world.forgetKeys());
      // One target for all calls of the row that are refused: since nothing happens by them, it is as new for the one that works.
      let made: Target | Promise<Target> | undefined;
      const targetOfRow = () => (made ??= row.call(world));
      if (!isOpen) {
        test("without a key: 401, even for a body that is no JSON, and nothing happens", async () => {
          const target = await targetOfRow();
          await refuse(401, method, { target }, { target: { ...target, body: "not an object" } });
        });
      }
      if (row.needs !== "public") {
        test("with a bad key: 401, and nothing happens", async () => {
          const target = await targetOfRow();
          await refuse(401, method, ...[...badKeys.values()].map((secret) => ({ target, secret })));
        });
      }
      if (category !== undefined) {
        test("with every other permission, or none: 403 before anything else, and nothing happens", async () => {
          const target = await targetOfRow();
          const { alsoNeeds } = row;
          const others = [
            allBut(category),
            { api: {} },
            { api: { ...allOf(alsoNeeds), [category]: { "api.some.other": {} } } },
            ...(alsoNeeds === undefined
              ? []
              : [allBut(alsoNeeds), { api: { [category]: {}, [alsoNeeds]: { "api.some.other": {} } } }]),
          ];
          const keys = await Promise.all(others.map((permissions) => world.keyOf(permissions)));
          const invalid = { ...target, body: { id: "not valid" } };
          await refuse(
            403,
            method,
            ...keys.flatMap((secret) => [
              { target, secret },
              { target: invalid, secret },
            ]),
          );
        });
        test("with the permission, but constrained to something else: 403, and nothing happens", async () => {
          const operation = operationOf(world, method, path);
          const target = await targetOfRow();
          const grant = (name: string) => ({
            api: { ...allOf(row.alsoNeeds), [category]: { [operation]: { constraints: { [name]: { eq: "-7" } } } } },
          });
          const names = ["id", "user_id", "disk_id", "nothing_like_it"];
          const keys = await Promise.all(names.map((name) => world.keyOf(grant(name))));
          await refuse(403, method, ...keys.map((secret) => ({ target, secret })));
        });
      }
      if (row.needs === "admin") {
        test("with the whole key of a user, and with narrowed keys of an administrator: 403, and nothing happens", async () => {
          const target = await targetOfRow();
          const everything = { api: Object.fromEntries(PERMISSION_CATEGORIES.map((one) => [one, {}])) };
          const keys = [world.owner.secret, await world.keyOf(everything), await world.keyOf(everything, world.admin)];
          await refuse(403, method, ...keys.map((secret) => ({ target, secret })));
        });
      }

      if (row.needs !== "public" && row.needs !== "optional" && row.isForInstanceKeys !== true) {
        test("with the key inside an instance: 403, and nothing happens", async () => {
          await refuse(403, method, { target: await targetOfRow(), secret: keyInside });
        });
      }

      test("with exactly what it needs: it works", async () => {
        const target = await targetOfRow();
        const secret = await sufficientKey(world, row);
        const access = { operation: operationOf(world, method, path) };
        const isChange = isAct(method, access);
        const lastEntry = isChange ? await world.lastAuditEntry() : 0n;
        const before = method !== "GET" && isReading(method, access) ? await world.contents() : undefined;
        const answer = await world.send(method, target, secret);
        assert.equal(answer.status, row.answers ?? 200, answer.text);
        if (before !== undefined) assert.equal(await world.contents(), before, "what only reads changes nothing");
        if (isChange && answer.status === 200) {
          const isRecorded = (await world.lastAuditEntry()) > lastEntry;
          assert.equal(isRecorded, UNRECORDED[name] === undefined, "each change is in the audit log");
        }
        const missing = answer.status === 200 ? missingMembers(name, answer.body, described.get(name)) : [];
        assert.deepEqual(missing, [], `members that clients need: ${answer.text}`);
      });

      if (row.aims !== undefined) {
        test("on somebody else's object: as if there were none, and nothing happens", async () => {
          const aims = (await row.aims?.(world)) ?? {};
          const secret = await sufficientKey(world, row);
          for (const [by, aim] of Object.entries(aims)) {
            const isShown = method === "GET" && !FORBIDDEN_BY_CONTRACT.has(`${name} ${by}`);
            const before = await world.contents();
            const [foreign, absent] = [
              await world.send(method, aim.foreign, secret),
              await world.send(method, aim.absent, secret),
            ];
            assert.equal(await world.contents(), before, `${name} by ${by} changed something`);
            assert.equal(foreign.status, absent.status, `${name} by ${by}: ${foreign.text} ${absent.text}`);
            assert.deepEqual(anonymous(foreign, aim.foreign), anonymous(absent, aim.absent), `${name} by ${by}`);
            if (FORBIDDEN_BY_CONTRACT.has(`${name} ${by}`)) assert.equal(foreign.status, 403);
            else if (!isShown) assert.ok([400, 404].includes(foreign.status), `${name} by ${by}: ${foreign.text}`);
            const own = await world.send(method, aim.own, secret);
            assert.equal(own.status, 200, `${name} by ${by}: ${own.text}`);
          }
        });
      }

      if (row.isForInstanceKeys === true) {
        test("with the key inside an instance: only what it may do, only to that instance", async () => {
          const { id, key } = await anInstance(world, world.owner);
          const other = await anInstance(world, world.owner);
          const target = await row.call(world);
          const aimAt = (instance: number) => ({ ...target, path: target.path.replace(/\d+\/$/, `${instance}/`) });
          const calls = [{ target: aimAt(other.id), secret: key }];
          // A body is read with these methods only; there, another id must not widen what the path says.
          if (method !== "GET") {
            calls.push({ target: { ...aimAt(id), body: { ...asBody(target), id: other.id } }, secret: key });
            calls.push({ target: { ...aimAt(other.id), body: { ...asBody(target), id } }, secret: key });
          }
          await refuse(403, method, ...calls);
          const answer = await world.send(method, aimAt(id), key);
          assert.equal(answer.status, 200, answer.text);
        });
      }
    });
  }

  test("the key of a destroyed instance opens nothing", async () => {
    const { id, key } = await anInstance(world, world.owner);
    const target = { path: `/api/v0/instances/${id}/` };
    assert.equal((await world.send("GET", target, key)).status, 200);
    assert.equal((await world.send("DELETE", target, world.owner.secret)).status, 200);
    // The word that a key is gone travels through the database, to every server.
    await until("the key to be dead", async () => (await world.send("GET", target, key)).status === 401);
    await refuse(401, "GET", { target, secret: key });
  });

  test("a list holds the caller's own objects and no trace of a stranger's", async () => {
    const mark = `stranger-${crypto.randomUUID()}`;
    const { stranger, owner } = world;
    await world.done(
      "POST",
      { path: "/api/v0/template/", body: { name: mark, image: "alpine", private: true } },
      stranger,
    );
    await world.done("POST", { path: "/api/v0/endptjobs/", body: { endpoint_name: mark } }, stranger);
    await world.done("POST", { path: "/api/v0/auth/apikeys/", body: { name: mark } }, stranger);
    await world.done("PUT", { path: "/api/v0/users/", body: { fullname: mark } }, stranger);
    await anInstance(world, stranger, { label: mark, env: `-e SECRET=${mark}` });
    for (const name of Object.keys(endpoints).filter((one) => one.startsWith("GET /"))) {
      const row = rows[name];
      assert.ok(row !== undefined);
      if (row.needs === "admin") continue;
      const { text } = await world.send("GET", await row.call(world), owner.secret);
      assert.ok(!text.includes(mark) && !text.includes(stranger.email), `${name} shows a stranger's data`);
    }
  });
});

type Call = { readonly target: Target; readonly secret?: string };

function asBody({ body }: Target): object {
  return typeof body === "object" && body !== null ? body : {};
}

function categoryOf(needs: Needs): PermissionCategory | undefined {
  if (needs === "optional user_write") return "user_write";
  return PERMISSION_CATEGORIES.find((category) => category === needs);
}

function allOf(category: PermissionCategory | undefined): PermissionDocument["api"] {
  return category === undefined ? {} : { [category]: {} };
}

function allBut(category: PermissionCategory): PermissionDocument {
  return {
    api: Object.fromEntries(PERMISSION_CATEGORIES.filter((other) => other !== category).map((other) => [other, {}])),
  };
}

async function sufficientKey(world: World, row: Row): Promise<string | undefined> {
  const { needs } = row;
  if (needs === "public" || needs === "optional") return undefined;
  if (needs === "admin") return world.admin.secret;
  const category = categoryOf(needs);
  const permissions = category === undefined ? undefined : { api: { ...allOf(row.alsoNeeds), [category]: {} } };
  return world.keyOf(permissions, await callerOf(row, world));
}

function operationOf({ routes }: World, method: string, path: string): string {
  const route = routes.find((one) => one.method === method && one.path.replace(/:(\w+)/g, "{$1}") === path);
  assert.ok(route !== undefined, `${method} ${path}`);
  return route.operation;
}

/** The content of an answer, without the names that the request gave and without the id of the request. */
function anonymous({ body, text }: TestAnswer, target: Target): unknown {
  if (typeof body !== "object" || body === null) return text;
  const named = JSON.stringify([target.path, target.body]).match(/[0-9a-f]{32}|\d+/g) ?? [];
  const { request_id: _, ...said } = body as Record<string, unknown>;
  return named
    .toSorted((a, b) => b.length - a.length)
    .reduce((json, word) => json.replaceAll(new RegExp(`\\b${word}\\b`, "g"), "N"), JSON.stringify(said));
}
