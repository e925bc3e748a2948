import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { access, chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import pg from "pg";
import { until } from "../../../../test/support/until.ts";
import { systemClock } from "../../base/clock.ts";
import { createLog } from "../../base/log.ts";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "./postgres.ts";
import { errorCode } from "./failure.ts";
import { listProcesses } from "./takeover.ts";

const POSTGRES_MODULE = new URL("./postgres.ts", import.meta.url).href;
const CLOCK_MODULE = new URL("../../base/clock.ts", import.meta.url).href;

const NOBODY = 65534;

const started: EmbeddedPostgres[] = [];

async function dataDirectory(t: TestContext, parent = tmpdir()): Promise<string> {
  const directory = await mkdtemp(path.join(parent, "berth-embedded-"));
  await chmod(directory, 0o711);
  t.after(async () => {
    for (const postgres of started.splice(0)) await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  });
  return directory;
}

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, clock: systemClock, log: createLog("silent") });
  started.push(postgres);
  return postgres;
}

async function query(connectionString: string, sql: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A process of its own that starts PostgreSQL, says its URL, and lives until it is killed. */
async function startOwner(t: TestContext, dataDir: string): Promise<{ owner: ChildProcess; url: string }> {
  const script = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(POSTGRES_MODULE)});
    const { systemClock: clock } = await import(${JSON.stringify(CLOCK_MODULE)});
    const log = { info() {}, warn() {} };
    const postgres = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, clock, log });
    console.log(postgres.connectionString);
    process.stdin.resume();`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => owner.kill("SIGKILL"));
  const [line]: unknown[] = await once(owner.stdout, "data");
  return { owner, url: String(line).trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** Kills a process that may have ended by itself, such as a child of one that was killed before it. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}

/** The first line of the file is the number of the process that the others belong to. */
async function postmasterOf(cluster: string): Promise<number> {
  return Number.parseInt(await readFile(path.join(cluster, "postmaster.pid"), "utf8"), 10);
}

async function untilNoProcessIn(cluster: string): Promise<void> {
  while ((await listProcesses(cluster)).length > 0) await systemClock.sleep(5);
}

test("committed rows are there after a stop and a second start, under an owner who is no superuser", async (t) => {
  const dataDir = await dataDirectory(t);
  const first = await start(dataDir);
  await query(first.connectionString, "create table kept as select 42 as value");
  await first.stop();
  assert.deepEqual(await first.exited, { code: 0, signal: null });
  const second = await start(dataDir);
  assert.deepEqual(await query(second.connectionString, "select value from kept"), [{ value: 42 }]);
  assert.deepEqual(await query(second.connectionString, "select rolsuper from pg_roles where rolname = current_user"), [
    { rolsuper: false },
  ]);
});

test("commits reach the disk, no port is open, and the sort order does not depend on the machine", async (t) => {
  const { connectionString } = await start(await dataDirectory(t));
  const rows = await query(
    connectionString,
    `select current_setting('fsync') as fsync, current_setting('listen_addresses') as addresses,
       current_setting('timezone') as timezone, datlocprovider, datlocale
     from pg_database where datname = current_database()`,
  );
  assert.deepEqual(rows, [{ fsync: "on", addresses: "", timezone: "UTC", datlocprovider: "b", datlocale: "C.UTF-8" }]);
});

test("only the account of PostgreSQL may reach its socket and its files", async (t) => {
  const dataDir = await dataDirectory(t);
  const { connection } = await start(dataDir);
  for (const directory of [connection.host, path.join(dataDir, "postgres"), path.join(dataDir, "postgres/cluster")]) {
    assert.equal((await stat(directory)).mode & 0o077, 0, directory);
  }
});

test("a login needs the password even at the socket, and other programs of `nobody` cannot read the files", async (t) => {
  const dataDir = await dataDirectory(t);
  const { connection, superuserUrl } = await start(dataDir);
  for (const user of ["berth", "postgres"]) {
    for (const password of ["", "wrong"]) {
      const stranger = new pg.Client({ ...connection, user, password });
      await assert.rejects(stranger.connect(), /password/, `${user} with "${password}"`);
    }
  }
  assert.equal((await query(superuserUrl, "select 1")).length, 1);
  assert.equal((await stat(path.join(dataDir, "postgres.password"))).mode & 0o777, 0o600);
  assert.notEqual((await stat(path.join(dataDir, "postgres/cluster"))).uid, NOBODY);
  assert.ok(!(await readFile(path.join(dataDir, "postgres/postgres.log"), "utf8")).includes(connection.password));
});

test("a database of an earlier version, without passwords, gets them and goes on", async (t) => {
  const dataDir = await dataDirectory(t);
  const first = await start(dataDir);
  await query(first.connectionString, "create table kept as select 42 as value");
  await query(first.superuserUrl, "alter role berth password null");
  await query(first.superuserUrl, "alter role postgres password null");
  await first.stop();
  await rm(path.join(dataDir, "postgres.password"));
  const second = await start(dataDir);
  assert.notEqual(second.connection.password, first.connection.password);
  assert.deepEqual(await query(second.connectionString, "select value from kept"), [{ value: 42 }]);
});

test("PostgreSQL that is killed is started again at the same address, a few times, and then ends for good", async (t) => {
  const dataDir = await dataDirectory(t);
  const cluster = path.join(dataDir, "postgres/cluster");
  const postgres = await start(dataDir);
  await query(postgres.connectionString, "create table kept as select 42 as value");
  let exit: unknown;
  void postgres.exited.then((how) => (exit = how));
  let backCount = 0;
  while (exit === undefined) {
    killIfThere(await postmasterOf(cluster));
    const kept = await until("PostgreSQL is back, or has ended for good", async () =>
      exit === undefined ? query(postgres.connectionString, "select value from kept") : [],
    );
    if (exit !== undefined) break;
    assert.deepEqual(kept, [{ value: 42 }]);
    backCount += 1;
  }
  // A login works a moment before the restart is over; a kill in between is tried once more within the same restart.
  assert.ok(backCount >= 5 && backCount <= 10, `it came back ${backCount} times`);
  assert.deepEqual(exit, { code: null, signal: "SIGKILL" });
});

test("kill -9 of its owner ends PostgreSQL, and the next start has every commit", async (t) => {
  const dataDir = await dataDirectory(t);
  const { owner, url } = await startOwner(t, dataDir);
  await query(url, "create table kept as select 42 as value");
  await kill(owner);
  const next = await start(dataDir);
  assert.deepEqual(await query(next.connectionString, "select value from kept"), [{ value: 42 }]);
});

test("kill -9 of everything at once loses no commit, and the next start recovers by itself", async (t) => {
  const dataDir = await dataDirectory(t);
  const cluster = path.join(dataDir, "postgres/cluster");
  const { owner, url } = await startOwner(t, dataDir);
  await query(url, "create table kept as select 42 as value");
  const victims = await listProcesses(cluster);
  assert.ok(victims.length > 1);
  for (const pid of victims) killIfThere(pid);
  await kill(owner);
  await access(path.join(cluster, "postmaster.pid"));
  const next = await start(dataDir);
  assert.deepEqual(await query(next.connectionString, "select value from kept"), [{ value: 42 }]);
});

test("a stale pid file that names a living stranger does not keep PostgreSQL from starting", async (t) => {
  const dataDir = await dataDirectory(t);
  const { owner } = await startOwner(t, dataDir);
  const pidFile = path.join(dataDir, "postgres/cluster/postmaster.pid");
  const text = await readFile(pidFile, "utf8");
  await kill(owner);
  await untilNoProcessIn(path.dirname(pidFile));
  await writeFile(pidFile, text.replace(/^\d+/, String(process.pid)));
  const next = await start(dataDir);
  assert.equal((await query(next.connectionString, "select 1 as one")).length, 1);
});

test("an orphan that still runs is ended before the directory is taken over", async (t) => {
  const dataDir = await dataDirectory(t);
  const first = await start(dataDir);
  await query(first.connectionString, "create table kept as select 42 as value");
  const [orphan] = await listProcesses(path.join(dataDir, "postgres/cluster"));
  const second = await start(dataDir);
  assert.deepEqual(await first.exited, { code: 0, signal: null });
  assert.ok(!(await listProcesses(path.join(dataDir, "postgres/cluster"))).includes(orphan ?? 0));
  assert.deepEqual(await query(second.connectionString, "select value from kept"), [{ value: 42 }]);
});

test("a first start that was killed half-way leaves nothing that the next one trips over", async (t) => {
  const dataDir = await dataDirectory(t);
  const half = path.join(dataDir, "postgres/cluster-unfinished-killed");
  await mkdir(half, { recursive: true });
  await writeFile(path.join(half, "PG_VERSION"), "18\n");
  const { connectionString } = await start(dataDir);
  assert.equal((await query(connectionString, "select 1 as one")).length, 1);
  const left = (await readdir(path.join(dataDir, "postgres"))).filter((entry) => entry.startsWith("cluster-"));
  assert.deepEqual(left, []);
});

test("a data directory whose path is too long for a socket works, and leaves no directory behind", async (t) => {
  const dataDir = path.join(await dataDirectory(t), "long-name-".repeat(15));
  const first = await start(dataDir);
  assert.ok(!first.connection.host.startsWith(dataDir));
  await first.stop();
  await assert.rejects(access(first.connection.host));

  const { owner, url } = await startOwner(t, dataDir);
  const abandoned = new URL(url).searchParams.get("host") ?? "";
  await kill(owner);
  await untilNoProcessIn(path.join(dataDir, "postgres/cluster"));
  await start(dataDir);
  await assert.rejects(access(abandoned));
});

test("a data directory below one that only its owner may enter works", async (t) => {
  const closed = await dataDirectory(t, homedir());
  await chmod(closed, 0o700);
  const { connectionString } = await start(path.join(closed, "data"));
  assert.equal((await query(connectionString, "select 1 as one")).length, 1);
  assert.equal((await stat(path.join(closed, "data/postgres/cluster"))).uid, process.getuid?.());
});

test("the database goes on when its directory is closed to other users between two starts", async (t) => {
  const parent = await dataDirectory(t);
  const dataDir = path.join(parent, "data");
  const first = await start(dataDir);
  await query(first.connectionString, "create table kept as select 42 as value");
  await first.stop();
  await chmod(parent, 0o700);
  const second = await start(dataDir);
  assert.deepEqual(await query(second.connectionString, "select value from kept"), [{ value: 42 }]);
});

test("two first starts at once share one copy of the programs", async (t) => {
  const cacheDirectory = path.join(await dataDirectory(t), "cache");
  const directories = await Promise.all([dataDirectory(t), dataDirectory(t)]);
  const options = { clock: systemClock, log: createLog("silent"), cacheDirectory };
  const both = await Promise.all(directories.map((dataDir) => startEmbeddedPostgres({ ...options, dataDir })));
  await Promise.all(both.map((postgres) => postgres.stop()));
  assert.equal((await readdir(cacheDirectory)).length, 1);
});

test("a database of another PostgreSQL version is refused in one sentence and left as it is", async (t) => {
  const dataDir = await dataDirectory(t);
  await (await start(dataDir)).stop();
  const versionFile = path.join(dataDir, "postgres/cluster/PG_VERSION");
  await writeFile(versionFile, "14\n");
  await assert.rejects(start(dataDir), /was made by PostgreSQL 14, and this Berth brings 18/);
  assert.equal(await readFile(versionFile, "utf8"), "14\n");
});

test("a failed start repeats PostgreSQL's message", async (t) => {
  const dataDir = await dataDirectory(t);
  await (await start(dataDir)).stop();
  await writeFile(path.join(dataDir, "postgres/cluster/postgresql.conf"), "no_such_setting = 1\n");
  await assert.rejects(start(dataDir), /PostgreSQL ended while starting: .*no_such_setting/);
});
