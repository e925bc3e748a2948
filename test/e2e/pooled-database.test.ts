// A server behind a real PgBouncer in transaction mode, and notifications that are lost in several ways.
import assert from "node:assert/strict";
import { copyFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { discard, NO_LIMITS, removeDataDir, aDataDir, runBerth, startBerth, type Berth } from "../support/berth.ts";
import { startPgBouncer, type PgBouncer } from "../support/cluster/pgbouncer.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { until } from "../support/until.ts";

const LISTENERS =
  "select pid from pg_stat_activity where application_name = 'berth-listener' and datname = current_database()";
const ENV = { ...NO_LIMITS, BERTH_PROXY_PORTS: "off" };

describe("a server behind PgBouncer in transaction mode", () => {
  let bouncer: PgBouncer;
  let berth: Berth;
  let url = "";
  let key = "";

  before(async () => {
    ({ url } = await testDatabase());
    bouncer = await startPgBouncer(url);
    const env = { ...ENV, DATABASE_URL: bouncer.url, BERTH_DATABASE_DIRECT_URL: url };
    berth = await startBerth({ args: ["--simulate", "2"], databaseUrl: url, env });
    key = String((await berth.admin("user", "create", "you@example.com", "--credit", "50"))["api_key"]);
  });
  after(async () => {
    await discard(berth);
    await bouncer.stop();
  });

  const call = async (method: string, target: string, body?: object) => {
    const answer = await berth.call(method, target, { key, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const offerIds = async () =>
    ((await call("POST", "/api/v0/bundles/", { limit: 100 })).offers as { id: number }[]).map(({ id }) => id);

  test("a rental runs, is read and ends, and the audit is clean", async () => {
    const [offer] = await offerIds();
    const rented = await call("PUT", `/api/v0/asks/${offer}/`, { image: "busybox", runtype: "args" });
    const id = rented.new_contract;
    const target = `/api/v0/instances/${id}/`;
    const isRunning = async () => (await call("GET", target)).instances.actual_status === "running";
    await until("it to run", isRunning);
    // Statements come again and again: the third time would prepare one where that is allowed.
    for (let count = 0; count < 20; count += 1) await Promise.all([offerIds(), call("GET", target)]);
    await call("DELETE", target, {});
    const phase = async () => (await berth.sql("select phase from instances where id = $1", [id]))[0]?.["phase"];
    await until("its end", async () => (await phase()) === "ended");
    const audit = await berth.cli("audit");
    assert.equal(audit.code, 0, audit.stdout + audit.stderr);
    assert.doesNotMatch(berth.output(), /prepared statement/);
  });

  /** A key that this server has in memory, and that is deleted past it, by a statement that tells nobody. */
  const deletedKey = async (email: string) => {
    const secret = String((await berth.admin("user", "create", email))["api_key"]);
    const status = async () => (await berth.call("GET", "/api/v0/users/current/", { key: secret })).status;
    assert.equal(await status(), 200);
    await berth.sql(`do $$ begin
      alter table api_keys disable trigger user;
      update api_keys set deleted_at = now() where user_id = (select id from users where email = '${email}');
      alter table api_keys enable trigger user;
    end $$`);
    assert.equal(await status(), 200, "nobody has told the server");
    return status;
  };

  test("a change whose notification was lost with its connection takes effect once that is back", async () => {
    const status = await deletedKey("lost@example.com");
    await berth.sql(`select pg_terminate_backend(pid) from (${LISTENERS}) as listeners`);
    await until("the key to be refused", async () => (await status()) === 401);
  });

  test("a connection that stands and brings nothing is found out and replaced", async () => {
    const status = await deletedKey("silent@example.com");
    const [listener] = await berth.sql(LISTENERS);
    // The process of the connection stands still: nothing is sent, and nothing is closed.
    const pid = Number(listener?.["pid"]);
    process.kill(pid, "SIGSTOP");
    try {
      await until("the key to be refused", async () => (await status()) === 401);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    assert.match(berth.output(), /the notification connection brings nothing any more/);
  });

  test("without a direct URL the start is refused in one sentence", async () => {
    const dataDir = await aDataDir();
    const args = ["up", "--no-agent", "--port", "0", "--data-dir", dataDir];
    await copyFile(path.join(berth.dataDir, "secret"), path.join(dataDir, "secret"));
    const { code, stdout } = await runBerth(args, { ...ENV, DATABASE_URL: bouncer.url });
    await removeDataDir(dataDir);
    assert.equal(code, 1, stdout);
    assert.match(stdout, /notifications of the database do not come: .* Set BERTH_DATABASE_DIRECT_URL/);
  });
});
