// Several `./berth up` over one PostgreSQL, as an operator runs them: what one of them has is left alone by the others.
import assert from "node:assert/strict";
import { copyFile, stat } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import {
  aDataDir,
  discard,
  NO_LIMITS,
  removeDataDir,
  runBerth,
  startBerth,
  type Berth,
  type StartOptions,
} from "../support/berth.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { until } from "../support/until.ts";

/** An operation that no other test here calls. */
const LIMITED = { operation: "api.cap.list", path: "/api/v0/caps/", perSecond: 50, burst: 100 };
const ENV = {
  BERTH_PROXY_PORTS: "off",
  BERTH_RATE_LIMITS: JSON.stringify({
    ...JSON.parse(NO_LIMITS.BERTH_RATE_LIMITS),
    [LIMITED.operation]: { per_second: LIMITED.perSecond, burst: LIMITED.burst },
  }),
};

/** Another server of the database, with the secret of the first one. */
async function join(first: Berth, databaseUrl: string, options: StartOptions = {}): Promise<Berth> {
  const dataDir = await aDataDir();
  await copyFile(path.join(first.dataDir, "secret"), path.join(dataDir, "secret"));
  const { adminKey } = first;
  const given = { args: ["--no-agent"], dataDir, databaseUrl, adminKey, ...options, env: { ...ENV, ...options.env } };
  try {
    return await startBerth(given);
  } catch (error) {
    await removeDataDir(dataDir);
    throw error;
  }
}

describe("several servers over one database", () => {
  let url = "";
  let one: Berth;
  let two: Berth;
  let key = "";

  before(async () => {
    ({ url } = await testDatabase());
    one = await startBerth({ args: ["--simulate", "2"], databaseUrl: url, env: ENV });
    key = String((await one.admin("user", "create", "you@example.com", "--credit", "50"))["api_key"]);
  });
  after(async () => {
    await discard(two);
    await discard(one);
  });

  const machines = (berth: Berth) =>
    berth.sql("select id, is_connected, session_number, server_id from machines order by id");

  test("a second server changes neither the market of the first one, nor its key, nor its secret", async () => {
    const before = await machines(one);
    assert.deepEqual(
      before.map(({ is_connected }) => is_connected),
      [true, true],
    );
    two = await join(one, url);
    assert.deepEqual(await machines(one), before);
    assert.match(two.output(), /The admin key of this database is in the data directory \S+/);
    await assert.rejects(stat(path.join(two.dataDir, "admin.key")), /ENOENT/);
    for (const server of [one, two]) {
      assert.equal((await server.call("GET", "/api/v0/users/current/", { key: one.adminKey })).status, 200);
    }
  });

  test("a server with another secret, or with other settings, is refused in one sentence and leaves no secret behind", async () => {
    const refused = async (env: Readonly<Record<string, string>>, pattern: RegExp) => {
      const dataDir = await aDataDir();
      const args = ["up", "--no-agent", "--port", "0", "--data-dir", dataDir];
      const { code, stdout } = await runBerth(args, { ...ENV, DATABASE_URL: url, ...env });
      assert.equal(code, 1);
      assert.match(stdout, pattern);
      assert.equal(stdout.trim().split("\n").length, 1, stdout);
      await assert.rejects(stat(path.join(dataDir, "secret")), /ENOENT/);
      await removeDataDir(dataDir);
    };
    await refused({}, /could not start: The servers of this database have another secret. Set BERTH_SECRET to theirs/);
    await refused({ BERTH_SECRET: "wrong" }, /another secret/);
    const other = join(one, url, { env: { BERTH_PLATFORM_FEE_PERCENT: "3" } });
    await assert.rejects(other, /with other settings: BERTH_PLATFORM_FEE_PERCENT is 3 here and 0 there/);
  });

  test("a host connected to the first server is rented, read and stopped on the second one, and billed once", async () => {
    const call = async (method: string, target: string, body: object = {}) => {
      const answer = await two.call(method, target, { key, body });
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    };
    const { offers } = await call("POST", "/api/v0/bundles/", { rentable: { eq: true } });
    const id = (await call("PUT", `/api/v0/asks/${offers[0].id}/`, { image: "busybox", runtype: "args" })).new_contract;
    const state = async () =>
      (await two.call("GET", `/api/v0/instances/${id}/`, { key })).body.instances?.actual_status as string | undefined;
    await until("it to run", async () => (await state()) === "running");
    const { result_url } = await call("PUT", `/api/v0/instances/request_logs/${id}/`, {});
    const log = await until("its log", async () => {
      const answer = await fetch(new URL(new URL(String(result_url)).pathname, two.url));
      return answer.status === 200 && answer.text();
    });
    assert.match(log, /simulated: busybox/);
    await call("DELETE", `/api/v0/instances/${id}/`);
    const phase = async () => (await one.sql("select phase from instances where id = $1", [id]))[0]?.["phase"];
    await until("its end", async () => (await phase()) === "ended");
    const [ran] = await one.sql("select sum(running_ms)::bigint as ms from instance_runs where instance_id = $1", [id]);
    assert.ok(Number(ran?.["ms"]) > 0);
    const audit = await one.cli("audit");
    assert.equal(audit.code, 0, audit.stdout + audit.stderr);
  });

  test("a caller of both servers gets what one of them would give, and not more", async () => {
    await until("both to know each other", async () => {
      const loops = await Promise.all(
        [one, two].map((berth) => berth.call("GET", "/api/v0/admin/loops/", { key: one.adminKey })),
      );
      return loops.every(({ text }) => text.includes('"others":1'));
    });
    const startMs = performance.now();
    let [allowed, refused] = [0, 0];
    const client = async (berth: Berth) => {
      while (refused < 300) {
        const { status, text } = await berth.call("GET", LIMITED.path, { key });
        if (status === 200) allowed += 1;
        else if (status === 429) refused += 1;
        else assert.fail(text);
      }
    };
    await Promise.all([one, one, two, two].map(client));
    const exact = LIMITED.burst + (LIMITED.perSecond * (performance.now() - startMs)) / 1000;
    assert.ok(allowed <= exact * 1.01 + 2, `${allowed} were let through instead of ${exact}`);
    assert.ok(allowed >= LIMITED.burst, `${allowed} were let through`);
    const [row] = await one.sql("select count(*)::int as count from request_limits");
    assert.ok(Number(row?.["count"]) > 0, "the servers have told each other");
  });

  test("a server that is killed takes only its own machines off the market, and brings them back", async () => {
    const before = await machines(one);
    const started = { args: ["--simulate", "1"] };
    const three = await join(one, url, started);
    const others = before.map(({ id }) => id);
    const own = async () => (await machines(one)).filter(({ id }) => !others.includes(id));
    const rest = async () => (await machines(one)).filter(({ id }) => others.includes(id));
    const [machine] = await own();
    assert.equal(machine?.["is_connected"], true);
    await three.kill();
    await until("its machine to be away", async () => (await own())[0]?.["is_connected"] === false);
    assert.deepEqual(await rest(), before, "no machine of another server was touched");
    // A client that knows both addresses gets its answer from the living server.
    const account = await one.cli("balance", "--key", key, "--url", `${three.url},${two.url}`);
    assert.equal(account.code, 0, account.stderr);
    const nobody = await one.cli("balance", "--key", key, "--url", three.url);
    assert.deepEqual([nobody.code, nobody.stderr.includes(`cannot reach ${three.url}: ECONNREFUSED`)], [1, true]);
    const again = await startBerth({
      ...started,
      dataDir: three.dataDir,
      databaseUrl: url,
      adminKey: one.adminKey,
      env: ENV,
    });
    try {
      await until("its machine to be back", async () => (await own())[0]?.["is_connected"] === true);
      assert.deepEqual([(await own()).length, (await own())[0]?.["id"]], [1, machine["id"]]);
      assert.deepEqual(await rest(), before);
    } finally {
      await discard(again);
    }
    await until("what a stopped server leaves", async () => (await own())[0]?.["is_connected"] === false);
    const audit = await one.cli("audit");
    assert.equal(audit.code, 0, audit.stdout + audit.stderr);
  });
});
