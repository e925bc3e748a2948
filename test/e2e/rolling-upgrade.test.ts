// Three servers behind HAProxy are replaced by a newer version, one after the other, while renters work. The older version is
// this source, and the newer one the same with a higher version and further migrations; BERTH_UPGRADE_FROM=TAG takes the older
// one from git instead, and this source as the newer one.
import assert from "node:assert/strict";
import { copyFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import {
  aDataDir,
  cleanEnvironment,
  discard,
  NO_LIMITS,
  removeDataDir,
  run,
  startBerth,
  untilOffered,
  type Berth,
} from "../support/berth.ts";
import { startAgent, type AgentChild } from "../support/upgrade/agent.ts";
import { startProxy, type Proxy } from "../support/upgrade/haproxy.ts";
import { startLoad } from "../support/upgrade/load.ts";
import { laterVersion, versionOf, type Version } from "../support/upgrade/versions.ts";
import { emptyTestDatabase, testDatabase } from "../support/database/postgres.ts";
import { freePort } from "../support/network/free-port.ts";
import { until } from "../support/until.ts";

const FROM = process.env["BERTH_UPGRADE_FROM"];
const SERVERS = 3;
const ENV = { ...NO_LIMITS, BERTH_PROXY_PORTS: "off", BERTH_DRAIN_SECONDS: "2", BERTH_LOG_LEVEL: "error" };
/** A column in each of the busiest tables, and an index on one of them. */
const EXPAND = {
  "server/migrations/9000_columns.sql": `
    alter table instances add column later text;
    alter table endpoint_workers add column later integer not null default 0;
    alter table ledger_transfers add column later text;`,
  "server/migrations/9001_index.sql":
    "-- no-transaction\ndrop index concurrently if exists instances_later;\ncreate index concurrently instances_later on instances (later);\n",
};
const CONTRACT = {
  "server/migrations/9002_contract.sql": "-- contract: 9001\nalter table ledger_transfers drop column later;",
};
/** Tests of versions that are newer than this source; there are none when this source is the newer one. */
function testOfLater(name: string, work: () => Promise<void>): void {
  if (FROM === undefined) void test(name, work);
}

const HELD_BACK =
  /^berth could not migrate: 9002_contract\.sql takes away what these running servers use: (\S+ \(\d+\.\d+\.\d+, schema \d{4}\)(, )?){3}\. Bring them to a version with schema 9001 or later, or stop them, and start this again\n$/;

describe("a rolling upgrade", () => {
  const versions: Version[] = [];
  const servers: Berth[] = [];
  let ports: readonly number[] = [];
  let databaseUrl = "";
  let proxy: Proxy;
  let agent: AgentChild;
  let older: Version | undefined;
  let newer: Version | undefined;
  let newest: Version | undefined;

  const start = (index: number, program: string | undefined, env: Readonly<Record<string, string>> = {}) => {
    const before = servers[index];
    const port = ports[index] ?? 0;
    const first = servers[0];
    const given = { ...ENV, ...env, BERTH_AGENT_URLS: `http://127.0.0.1:${port}` };
    return startBerth({
      ...{ args: ["--no-agent"], databaseUrl, port, env: given },
      ...(before === undefined ? {} : { dataDir: before.dataDir }),
      ...(first === undefined ? {} : { adminKey: first.adminKey }),
      ...(program === undefined ? {} : { program }),
    });
  };
  const berth = (program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run(program, args, cleanEnvironment({ ...ENV, DATABASE_URL: databaseUrl, ...env }));

  before(async () => {
    ({ url: databaseUrl } = await (FROM === undefined ? testDatabase() : emptyTestDatabase()));
    if (FROM === undefined) newer = await laterVersion("99.0.0", EXPAND);
    else older = await versionOf(FROM);
    if (FROM === undefined) newest = await laterVersion("99.1.0", { ...EXPAND, ...CONTRACT });
    for (const version of [older, newer, newest]) if (version !== undefined) versions.push(version);
    ports = [await freePort(), await freePort(), await freePort()];
    servers.push(await start(0, older?.program));
    const [first] = servers;
    assert.ok(first);
    for (let index = 1; index < SERVERS; index += 1) {
      const dataDir = await aDataDir();
      await copyFile(path.join(first.dataDir, "secret"), path.join(dataDir, "secret"));
      const { adminKey } = first;
      const env = { ...ENV, BERTH_AGENT_URLS: `http://127.0.0.1:${ports[index]}` };
      const given = { args: ["--no-agent"], databaseUrl, port: ports[index] ?? 0, env, dataDir, adminKey };
      servers.push(await startBerth(older === undefined ? given : { ...given, program: older.program }));
    }
    agent = await startAgent(first, { hosts: 4 });
    await untilOffered(first, 4);
    proxy = await startProxy(ports, { redispatches: FROM !== undefined });
    await until("all servers to be up at the proxy", async () =>
      [...(await proxy.states()).values()].every((state) => state === "UP"),
    );
  });
  after(async () => {
    await proxy?.stop();
    await agent?.stop();
    for (const server of servers) await discard(server);
    for (const version of versions) await version.remove();
  });

  testOfLater(
    "a newer server that may not migrate says which migrations are missing, and a look lists them",
    async () => {
      assert.ok(newer);
      const dataDir = await aDataDir();
      const started = await berth(newer.program, ["up", "--no-agent", "--port", "0", "--data-dir", dataDir], {
        BERTH_MIGRATE: "0",
      });
      assert.equal(started.code, 1);
      assert.match(
        started.stdout,
        /^berth could not start: this Berth is too new for its database, which has schema \d{4} and lacks 2 migrations up to 9001; run .\/berth migrate and start again\n$/,
      );
      await removeDataDir(dataDir);
      const look = await berth(newer.program, ["migrate", "--check"]);
      assert.deepEqual([look.code, look.stdout], [1, "9000_columns.sql\n9001_index.sql\n2 migrations to apply.\n"]);
    },
  );

  test("no request fails while the schema changes and three servers are replaced under load", async () => {
    const user = await servers[0]?.admin("user", "create", "renter@example.com", "--credit", "500");
    const load = startLoad(proxy.url, { key: String(user?.["api_key"]), renters: 2 });
    const enough = (count: number) =>
      until(`${count} more answers`, () => load.counts.reads + load.counts.rents >= count || load.failures.length > 0);
    await enough(10);
    if (newest !== undefined) {
      // It adds what is new, and takes nothing away that the running servers use.
      const migrated = await berth(newest.program, ["migrate"]);
      assert.equal(migrated.code, 1);
      assert.match(migrated.stdout, HELD_BACK);
      await enough(load.counts.reads + load.counts.rents + 10);
    }
    for (let index = 0; index < SERVERS; index += 1) {
      const server = servers[index];
      assert.ok(server);
      assert.equal((await server.stop()).code, 0);
      // The first one comes back once more in the old version: it serves on the newer schema.
      if (index === 0 && older === undefined) {
        servers[index] = await start(index, undefined);
        assert.equal((await servers[index]?.call("GET", "/readyz"))?.status, 200);
        await servers[index]?.stop();
      }
      servers[index] = await start(index, newer?.program);
      const port = ports[index] ?? 0;
      await until("the new server to be up at the proxy", async () => (await proxy.states()).get(port) === "UP");
      await enough(load.counts.reads + load.counts.rents + 10);
    }
    const before = load.counts.rents;
    await until("rents at the new servers", () => load.counts.rents > before + 5 || load.failures.length > 0);
    await load.stop();
    console.log(`${load.counts.reads} reads, ${load.counts.rents} rents, ${load.counts.refusals} rents refused`);
    assert.deepEqual(load.failures, []);
    assert.deepEqual(load.doubles, []);
    const failures = await proxy.failures();
    if (FROM === undefined) assert.deepEqual(failures, { econ: 0, eresp: 0, wretr: 0, wredis: 0, hrsp_5xx: 0 });
    else assert.equal(failures["hrsp_5xx"], 0);
    const versions = await servers[0]?.sql(
      "select distinct version, schema_number from servers where stopped_at is null",
    );
    assert.equal(versions?.length, 1);
    if (newer !== undefined) assert.deepEqual(versions, [{ version: "99.0.0", schema_number: 9001 }]);
  });

  testOfLater("columns that older servers used go when none runs any more, and none starts after that", async () => {
    assert.ok(newest);
    const migrated = await berth(newest.program, ["migrate"]);
    assert.match(migrated.stdout, /^9002_contract\.sql\nThe database has schema 9002 of this version/);
    assert.equal(
      (await servers[0]?.call("GET", "/readyz"))?.status,
      200,
      "a server of the schema that is needed goes on",
    );
    await servers[2]?.stop();
    await assert.rejects(
      start(2, undefined),
      /this Berth is too old for its database: it has schema \d{4}, and 9002_contract\.sql/,
    );
  });
});
