import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../../test/support/database/postgres.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import { findOlderServers } from "./older-servers.ts";
import {
  admitStart,
  enterServer,
  noteAdminKey,
  planAdminKey,
  StartRefused,
  type StartRequest,
} from "./start-service.ts";
import { beat, markStopped } from "./store.ts";

const KNOWN = { schemaNumber: 634, version: "1.0.0" };

async function world(t: TestContext) {
  const { database } = await testDatabase(t);
  const clock = new ManualClock();
  const run = <T>(work: (tx: Tx) => Promise<T>) => withTransaction(database, clock, work);
  const secret = randomBytes(32);
  const start = (dataDirKey: string, given: Partial<StartRequest> = {}) =>
    run(async (tx) => {
      const request: StartRequest = {
        dataDirKey,
        place: `here:/${dataDirKey}`,
        address: undefined,
        agentAddresses: [],
        settings: { BERTH_PLATFORM_FEE_PERCENT: "5" },
        ...KNOWN,
        secret,
        secretFile: `/${dataDirKey}/secret`,
        isSecretReplaced: false,
        areSettingsReplaced: false,
        ...given,
      };
      const started = await admitStart(tx, request);
      return { ...started, id: await enterServer(tx, request, started.earlierIds) };
    });
  return { run, start, clock, secret, database };
}

test("servers of an older schema are found while they beat, and not when they are dead, stopped or new", async (t) => {
  const { start, database, run } = await world(t);
  const known = { address: undefined, agentAddresses: [] };
  const { id: living } = await start("living", { schemaNumber: 634, version: "1.2.0" });
  await start("dead", { schemaNumber: 634 });
  const { id: stopped } = await start("stopped", { schemaNumber: 634 });
  const { id: newer } = await start("newer", { schemaNumber: 640 });
  const older = (schema: number) => {
    // Beats that come while the finder watches.
    const sleep = async () => {
      for (const id of [living, stopped, newer]) await run((tx) => beat(tx, id, known));
      await run((tx) => markStopped(tx, stopped));
    };
    return findOlderServers(database.kysely, Object.assign(new ManualClock(), { sleep }), schema);
  };
  const found = await older(640);
  assert.deepEqual(
    found.map(({ place, schemaNumber, version }) => [place, schemaNumber, version]),
    [["here:/living", 634, "1.2.0"]],
  );
  assert.deepEqual(await older(634), []);
});

const refusal = (pattern: RegExp) => (error: unknown) => error instanceof StartRefused && pattern.test(error.message);

test("a server with another secret is refused in a sentence that says what to set, and changes nothing", async (t) => {
  const { start } = await world(t);
  await start("first");
  const other = randomBytes(32);
  await assert.rejects(
    start("second", { secret: other }),
    refusal(/another secret. Set BERTH_SECRET .*\/second\/secret/),
  );
  await assert.rejects(start("second", { secret: other, isSecretReplaced: true }), refusal(/while other servers/));
  assert.equal((await start("second")).isAlone, false);
});

test("a lost secret is replaced only when the operator says so and no other server runs", async (t) => {
  const { start, clock, secret } = await world(t);
  await start("first");
  clock.jump(60_000);
  const other = randomBytes(32);
  await assert.rejects(start("first", { secret: other }), refusal(/BERTH_REPLACE_SECRET/));
  await start("first", { secret: other, isSecretReplaced: true });
  clock.jump(60_000);
  await start("first", { secret: other });
  await assert.rejects(start("first", { secret }), refusal(/another secret/));
});

test("a start replaces the earlier one on its own data directory, and no other", async (t) => {
  const { start } = await world(t);
  const first = await start("first");
  const second = await start("second");
  assert.deepEqual([first.earlierIds, second.earlierIds], [[], []]);
  assert.deepEqual((await start("first")).earlierIds, [first.id]);
});

test("a copy of the data directory of a running server is refused", async (t) => {
  const { start, clock } = await world(t);
  await start("first");
  await assert.rejects(start("first", { place: "here:/copy" }), refusal(/copy of that of the server in here:\/first/));
  clock.jump(60_000);
  await start("first", { place: "here:/moved" });
});

test("a start with other settings than those of a running server is refused, naming each, unless it replaces them", async (t) => {
  const { start, clock } = await world(t);
  await start("first");
  const settings = { BERTH_PLATFORM_FEE_PERCENT: "0" };
  const named = refusal(/here:\/first .*BERTH_PLATFORM_FEE_PERCENT is 0 here and 5 there/);
  await assert.rejects(start("second", { settings }), named);
  await start("second", { settings, areSettingsReplaced: true });
  await assert.rejects(start("third"), refusal(/5 here and 0 there/));
  clock.jump(60_000);
  await start("third");
});

test("the administrator's key is created once, and a second data directory is told where it is", async (t) => {
  const { run } = await world(t);
  const ask = (dataDirKey: string, given: { hasKeyFile?: boolean; hasAdmin?: boolean; isAskedFor?: boolean } = {}) =>
    run(async (tx) => {
      const facts = { dataDirKey, hasKeyFile: false, hasAdmin: true, isAskedFor: false, ...given };
      const plan = await planAdminKey(tx, facts);
      await noteAdminKey(tx, plan, {
        dataDirKey,
        place: `here:/${dataDirKey}`,
        address: undefined,
        agentAddresses: [],
        settings: {},
        ...KNOWN,
      });
      return plan;
    });
  assert.deepEqual(await ask("first", { hasAdmin: false }), { kind: "make" });
  assert.deepEqual(await ask("first", { hasKeyFile: true }), { kind: "keep" });
  assert.deepEqual(await ask("second"), { kind: "elsewhere", place: "here:/first" });
  // A copy of the file works like the file.
  assert.deepEqual(await ask("second", { hasKeyFile: true }), { kind: "keep" });
  assert.deepEqual(await ask("first"), { kind: "make" }, "its own file was lost");
  assert.deepEqual(await ask("second", { isAskedFor: true }), { kind: "make" });
  assert.deepEqual(await ask("first"), { kind: "elsewhere", place: "here:/second" });
});

test("in an installation of a version with one server, the first start with a key is noted as the key's place", async (t) => {
  const { run } = await world(t);
  const describe = (dataDirKey: string) => ({
    dataDirKey,
    place: dataDirKey,
    address: undefined,
    agentAddresses: [],
    settings: {},
    ...KNOWN,
  });
  const plan = (dataDirKey: string, hasKeyFile: boolean) =>
    run(async (tx) => {
      const made = await planAdminKey(tx, { dataDirKey, hasKeyFile, hasAdmin: true, isAskedFor: false });
      await noteAdminKey(tx, made, describe(dataDirKey));
      return made;
    });
  assert.deepEqual(await plan("new", false), { kind: "elsewhere", place: undefined }, "no key in use is ended");
  assert.deepEqual(await plan("old", true), { kind: "keep" });
  assert.deepEqual(await plan("new", false), { kind: "elsewhere", place: "old" });
});
