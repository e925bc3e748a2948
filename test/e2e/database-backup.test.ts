// Backups of the embedded database: made while money moves, restored over it, and hosts that know more than the backup.
import assert from "node:assert/strict";
import { mkdtemp, open, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { systemClock } from "../../server/src/base/clock.ts";
import { createLog } from "../../server/src/base/log.ts";
import { startEmbeddedPostgres } from "../../server/src/db/embedded/postgres.ts";
import { runBerth } from "../support/berth.ts";
import { docker } from "../support/hosts/docker.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { aRenter, type Renter } from "../support/renter.ts";
import { until } from "../support/until.ts";

const CREDIT_CLIENTS = 3;

/** Clients that give themselves a dollar of credit, again and again, until they are stopped. */
class Payments {
  acknowledged = 0;
  #isStopping = false;
  readonly #clients: readonly Promise<void>[];

  constructor(pay: () => Promise<void>) {
    const client = async () => {
      while (!this.#isStopping) {
        await pay();
        this.acknowledged += 1;
      }
    };
    this.#clients = Array.from({ length: CREDIT_CLIENTS }, client);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#clients);
  }
}

describe("backups of the database", () => {
  let machine: ThisMachine;
  let renter: Renter;
  let folder: string;
  const cleanups: (() => Promise<unknown>)[] = [];
  const dataDir = () => machine.berth().dataDir;
  const backUp = (file: string) => runBerth(["backup", file, "--data-dir", dataDir()]);
  const restore = (file: string, ...words: readonly string[]) =>
    runBerth(["restore", file, "--data-dir", dataDir(), ...words]);
  const runningSince = (id: string) => docker("inspect", "-f", "{{.State.Running}} {{.State.StartedAt}}", id);

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "berth-database-backup-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    machine = await startThisMachine(32_300);
    cleanups.push(() => machine.close());
    renter = await aRenter(machine, "rita");
    cleanups.push(() => renter.close());
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("a backup under load has every payment that was acknowledged before it, and books that add up", async () => {
    const file = path.join(folder, "loaded.tar.gz");
    const email = "loaded@example.com";
    const { adminKey, call } = machine.berth();
    await machine.berth().admin("user", "create", email);
    const payments = new Payments(async () => {
      const answer = await call("POST", "/api/v0/admin/credit/", { key: adminKey, body: { email, amount: 1 } });
      assert.equal(answer.status, 200, answer.text);
    });
    await until("some payments", () => payments.acknowledged >= 10);
    const acknowledgedBefore = payments.acknowledged;
    const made = await backUp(file);
    await payments.stop();
    assert.equal(made.code, 0, made.stdout + made.stderr);
    assert.match(made.stdout, /the audit of its books found no difference/);
    assert.equal((await stat(file)).mode & 0o777, 0o600);

    // Into another data directory, beside the server that runs.
    const elsewhere = path.join(folder, "elsewhere");
    const restored = await runBerth(["restore", file, "--data-dir", elsewhere]);
    assert.equal(restored.code, 0, restored.stdout + restored.stderr);
    const postgres = await startEmbeddedPostgres({ dataDir: elsewhere, clock: systemClock, log: createLog("silent") });
    cleanups.push(() => postgres.stop());
    const client = new pg.Client({ connectionString: postgres.connectionString });
    await client.connect();
    const { rows } = await client.query(
      `select a.balance_nanos / 1000000000 as dollars from ledger_accounts a join users u on u.id = a.user_id
       where u.email = $1 and a.kind = 'credit'`,
      [email],
    );
    await client.end();
    const kept = Number(rows[0]?.dollars);
    assert.ok(
      kept >= acknowledgedBefore && kept <= payments.acknowledged,
      `${kept} of ${payments.acknowledged} dollars`,
    );
  });

  test("after a restore the host goes on with what the backup knows, and stops and keeps what it does not know", async () => {
    const file = path.join(folder, "point.tar.gz");
    const known = await renter.rentAndRun({ runtype: "args" });
    const knownContainer = await machine.containerOf(known.id);
    const sinceBefore = await runningSince(knownContainer);
    const made = await backUp(file);
    assert.equal(made.code, 0, made.stdout + made.stderr);
    const lost = await renter.rentAndRun({ runtype: "args" });
    const lostContainer = await machine.containerOf(lost.id);
    await docker("exec", lostContainer, "sh", "-c", "echo precious > /work-of-hours");

    const refusedWhileServed = await restore(file, "--replace");
    assert.deepEqual([refusedWhileServed.code, /A server runs on/.test(refusedWhileServed.stdout)], [1, true]);
    await machine.berth().kill();
    const refused = await restore(file);
    assert.deepEqual([refused.code, /has a database already/.test(refused.stdout)], [1, true]);
    const restored = await restore(file, "--replace");
    assert.equal(restored.code, 0, restored.stdout + restored.stderr);
    await machine.startAgain();

    await renter.untilStatus(known.id, "running");
    assert.equal((await renter.done("GET", `/api/v0/instances/${lost.id}/`)).instances, null);
    await until("the host to stop what the database does not know", async () =>
      (await runningSince(lostContainer)).startsWith("false"),
    );
    assert.equal(await runningSince(knownContainer), sinceBefore, "it ran through the restore");
    // New rentals get ids that no container of the lost time has.
    const next = await renter.rentAndRun({ runtype: "args" });
    assert.ok(next.id > lost.id + 1_000, `the next instance is ${next.id}`);
    await docker("cp", `${lostContainer}:/work-of-hours`, path.join(folder, "saved"));
    const audit = await machine.berth().cli("audit", "--full");
    assert.equal(audit.code, 0, audit.stdout);
    for (const { id } of [known, next]) await renter.destroy(id);
  });

  test("a file that was cut short is refused, and the database stays as it is", async () => {
    const file = path.join(folder, "cut.tar.gz");
    assert.equal((await backUp(file)).code, 0);
    const handle = await open(file, "r+");
    await handle.truncate(Math.floor((await handle.stat()).size * 0.9));
    await handle.close();
    await machine.berth().stop();
    const refused = await restore(file, "--replace");
    assert.equal(refused.code, 1, refused.stdout);
    assert.deepEqual(
      (await readdir(dataDir())).filter((name) => name.startsWith("restore-unfinished")),
      [],
    );
    await machine.startAgain();
    assert.equal((await machine.berth().call("GET", "/readyz")).status, 200);
  });
});
