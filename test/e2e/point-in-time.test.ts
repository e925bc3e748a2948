// The recipe of deploy/pgbackrest on Debian's PostgreSQL: everything is destroyed, and restored to a moment in the past.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { runBerth } from "../support/berth.ts";
import { archivedPostgres, type ArchivedPostgres } from "../support/database/debian-postgres.ts";
import { docker } from "../support/hosts/docker.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { aRenter, type Renter } from "../support/renter.ts";
import { until } from "../support/until.ts";

const POINT = "point";

describe("an external database with a continuous archive", () => {
  let postgres: ArchivedPostgres;
  let machine: ThisMachine;
  let renter: Renter;
  const cleanups: (() => Promise<unknown>)[] = [];
  const runningSince = (id: string) => docker("inspect", "-f", "{{.State.Running}} {{.State.StartedAt}}", id);
  const generationOf = async (id: number) => {
    const [row] = await machine.berth().sql("select generation from instances where id = $1", [id]);
    return Number(row?.["generation"]);
  };
  const money = async () => ({
    accounts: await machine.berth().sql("select id, balance_nanos::text from ledger_accounts order by id"),
    transfers: await machine.berth().sql("select count(*)::text, max(id)::text from ledger_transfers"),
  });

  before(async () => {
    postgres = await archivedPostgres();
    cleanups.push(() => postgres.close());
    await postgres.pgbackrest("stanza-create");
    await postgres.pgbackrest("check");
    machine = await startThisMachine(32_400, {}, postgres.first.url);
    cleanups.push(() => machine.close());
    renter = await aRenter(machine, "ruth");
    cleanups.push(() => renter.close());
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("comes back to a moment after its last backup: the same money, and a container that never stopped", async () => {
    const old = await renter.rentAndRun({ runtype: "args" });
    await postgres.pgbackrest("--type=full", "backup");
    // Rents go on after the backup; the archive has them.
    const restarted = await renter.rentAndRun({ runtype: "args" });
    const container = await machine.containerOf(old.id);
    const since = await runningSince(container);
    const moneyAtPoint = await until("a moment in which no money moves", async () => {
      const earlier = await money();
      await postgres.first.sql(`select pg_create_restore_point('${POINT}')`);
      const later = await money();
      return JSON.stringify(earlier) === JSON.stringify(later) && later;
    });

    // The time that will be lost.
    await machine.berth().admin("credit", "ruth@example.com", "7");
    const generation = await generationOf(restarted.id);
    await renter.done("PUT", `/api/v0/instances/reboot/${restarted.id}/`);
    await until("the reboot", async () => (await generationOf(restarted.id)) > generation);
    await renter.untilStatus(restarted.id, "running");
    const restartedContainer = await machine.containerOf(restarted.id);
    const restartedSince = await runningSince(restartedContainer);

    await postgres.first.sql("select pg_switch_wal()");
    await until("the archive to have it", async () => {
      const [row] = await postgres.first.sql(
        "select last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1) as is_done from pg_stat_archiver",
      );
      return row?.["is_done"] === true;
    });
    await machine.berth().kill();
    await postgres.first.destroy();
    assert.ok(!existsSync(postgres.first.folder));

    await postgres.pgbackrest(
      `--pg1-path=${postgres.second.folder}`,
      ...["--type=name", `--target=${POINT}`, "--target-action=promote", "restore"],
    );
    await postgres.second.start();
    await until("the end of the recovery", async () => {
      const [row] = await postgres.second.sql("select pg_is_in_recovery() as is_recovering");
      return row?.["is_recovering"] === false;
    });
    const accepted = await runBerth(["restore", "--external", "--data-dir", machine.berth().dataDir], {
      DATABASE_URL: postgres.second.url,
    });
    assert.equal(accepted.code, 0, accepted.stdout + accepted.stderr);
    assert.match(accepted.stdout, /the audit of its books found no difference/);
    await machine.startAgain(postgres.second.url);

    const { accounts, transfers } = moneyAtPoint;
    const upToPoint = await machine
      .berth()
      .sql("select count(*)::text, max(id)::text from ledger_transfers where id <= $1", [transfers[0]?.["max"]]);
    assert.deepEqual(upToPoint, transfers, "each transfer up to the point is there, once");
    const laterTransfers = await machine
      .berth()
      .sql("select distinct code from ledger_transfers where id > $1", [transfers[0]?.["max"]]);
    for (const { code } of laterTransfers) assert.match(String(code), /^usage_/, "only use is new");
    assert.equal((await money()).accounts.length, accounts.length);

    await renter.untilStatus(old.id, "running");
    assert.equal(await runningSince(container), since, "it ran through it all");
    // The host had started it again in the lost time: that run goes on, counts, and obeys.
    await renter.untilStatus(restarted.id, "running");
    await until("the newer run", async () => (await generationOf(restarted.id)) > generation);
    assert.equal(await runningSince(restartedContainer), restartedSince);
    await renter.done("PUT", `/api/v0/instances/${restarted.id}/`, { state: "stopped" });
    await until("its stop", async () => (await runningSince(restartedContainer)).startsWith("false"));
    const audit = await machine.berth().cli("audit", "--full");
    assert.equal(audit.code, 0, audit.stdout);
    for (const { id } of [old, restarted]) await renter.destroy(id);
  });
});
