// A month that an older server wrote, with rentals that run, rest, wait and are over, is brought up to date.
import assert from "node:assert/strict";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { assertLines } from "../../../../../test/support/money/charges.ts";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import { emptyTestDatabase, type TestDatabase } from "../../../../../test/support/database/postgres.ts";
import { fillWithStored } from "../../../../../test/support/database/stored-database.ts";
import { systemClock } from "../../../base/clock.ts";
import { migrate } from "../../../db/migrate.ts";
import { audit } from "../audit/audit-service.ts";
import { settleDue } from "../charging/settlement/service.ts";

const MIGRATIONS = path.join(import.meta.dirname, "../../../../migrations");
const MINUTE_MS = 60_000;
/** A complete month of which six rentals are over, one of them not settled, and six are not. */
const MONTH = "month-before-0380";

async function migrationsUpTo(t: TestContext, last: string): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "berth-upgrade-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const files = (await readdir(MIGRATIONS)).filter((file) => file.endsWith(".sql") && file.slice(0, 4) <= last);
  for (const file of files) await copyFile(path.join(MIGRATIONS, file), path.join(directory, file));
  return directory;
}

type Checksum = { readonly rows: number; readonly sum: string | null };

/** A checksum of all rows of each table, in any order. */
async function checksums({ pool }: TestDatabase, without: readonly string[]): Promise<Record<string, Checksum>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> all ($1::text[]) order by 1`,
    [without],
  );
  const sums: Record<string, Checksum> = {};
  for (const { name } of tables) {
    const { rows } = await pool.query<Checksum>(
      `select count(*)::integer as rows, sum(hashtextextended(row_to_json(one)::text, 0)::numeric)::text as sum
       from ${name} as one`,
    );
    if (rows[0] !== undefined) sums[name] = rows[0];
  }
  return sums;
}

/** Each instance with all that is stored of it, by its columns of before. */
async function instancesBefore({ pool }: TestDatabase): Promise<readonly unknown[]> {
  return (await pool.query("select to_jsonb(i) as one from instances i order by id")).rows;
}

async function instancesAfter({ pool }: TestDatabase): Promise<readonly unknown[]> {
  const { rows } = await pool.query(
    `select to_jsonb(i) || (to_jsonb(t) - '{instance_id,user_id,is_free}'::text[]) as one
     from instances i join instance_tabs t on t.instance_id = i.id and t.user_id = i.user_id and t.is_free = i.is_background
     order by id`,
  );
  return rows;
}

/** The charges for each part of each rental: lines, milliseconds or bytes, and nano-dollars. */
async function chargedOf({ pool }: TestDatabase): Promise<readonly string[]> {
  const { rows } = await pool.query<{ one: string }>(
    `select concat_ws(' ', instance_id, component, count(*), sum(quantity), sum(amount_nanos)) as one
     from charge_lines where instance_id is not null group by instance_id, component order by instance_id, component`,
  );
  return rows.map(({ one }) => one);
}

async function findDifferences({ database }: TestDatabase, clock: ManualClock): Promise<readonly unknown[]> {
  const { checks } = await audit({ database, clock }, { isFull: true });
  return checks.flatMap(({ differences }) => differences);
}

test("the tabs of a month hold what instances held, nothing else changes, and charging goes on to the millisecond", async (t) => {
  const db = await emptyTestDatabase(t);
  await migrate(db.connection, { directory: await migrationsUpTo(t, "0379"), clock: systemClock });
  const clock = new ManualClock((await fillWithStored(db, MONTH)).getTime());
  const touched = ["instances", "instance_tabs", "schema_migrations"];
  const [rows, others] = [await instancesBefore(db), await checksums(db, touched)];
  assert.equal(rows.length, 12);
  assert.equal(others["charge_lines"]?.rows, 4213);

  await migrate(db.connection, { directory: await migrationsUpTo(t, "0380"), clock: systemClock });
  assert.deepEqual(await instancesAfter(db), rows);
  assert.deepEqual(await checksums(db, touched), others);

  await migrate(db.connection, { directory: MIGRATIONS, clock: systemClock });
  assert.deepEqual(await findDifferences(db, clock), []);
  const { settled } = await settleDue(db.database, clock);
  assert.equal(settled, 2);
  await db.pool.query("update instance_tabs set settle_at = $1 where settle_at is not null", [clock.now()]);
  await settleDue(db.database, clock);
  assert.deepEqual(await chargedOf(db), CHARGED);
  await assertLines({ env: db });
  assert.deepEqual(await findDifferences(db, clock), []);
  const again = await chargedOf(db);
  clock.jump(MINUTE_MS);
  await settleDue(db.database, clock);
  assert.deepEqual(await chargedOf(db), again);
});

/** As the older server settled the same database at the same moment. */
const CHARGED: readonly string[] = [
  "1 bwd 12 108000000000 1080000000",
  "1 bwu 6 28800000000 576000000",
  "1 disk 109 691080000 1999652718",
  "1 gpu 98 291480000 64773333325",
  "2 disk 393 1130280000 5797083430",
  "2 gpu 384 839140000 46012916551",
  "3 disk 453 694680000 3216110774",
  "3 gpu 450 642555000 142789999890",
  "4 bwu 241 42930000000 1287900000",
  "4 disk 301 1031280000 1909777586",
  "4 gpu 301 1031280000 154132874360",
  "257 disk 353 1211280000 1682333317",
  "257 gpu 353 1211280000 218080000000",
  "258 bwd 11 1821650000 18216500",
  "258 bwu 11 728660000 14573200",
  "258 disk 102 349513000 404528870",
  "258 gpu 102 349513000 38834777773",
  "259 bwd 41 28886600000 288866000",
  "259 bwu 41 12998970000 259979400",
  "259 disk 49 165913000 240036151",
  "259 gpu 49 165913000 18434777775",
  "260 disk 29 165793000 143917532",
  "260 gpu 26 86170000 3590416666",
  "261 disk 49 165673000 143813365",
  "261 gpu 49 165673000 7823447219",
  "262 disk 41 137113000 253912937",
  "262 gpu 41 137113000 27915664061",
  "263 disk 21 136993000 380536108",
  "263 gpu 18 57360000 11950000000",
  "264 disk 24 79513000 46014459",
  "264 gpu 24 79513000 8834777776",
];
