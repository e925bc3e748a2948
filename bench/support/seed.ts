import { randomBytes, randomUUID } from "node:crypto";
import type pg from "pg";
import type { Hello } from "../../protocol/index.ts";
import { systemClock } from "../../server/src/base/clock.ts";
import { asId, type MachineId, type UserId } from "../../server/src/base/ids.ts";
import { nanos, NANOS_PER_DOLLAR } from "../../server/src/base/money.ts";
import type { Database } from "../../server/src/db/connect.ts";
import { withTransaction } from "../../server/src/db/transaction.ts";
import { simulatedFacts } from "../../test/support/hosts/simulated-facts.ts";
import type { BenchServer } from "./berth-server.ts";
import { newKey } from "../../server/src/domains/people/accounts/index.ts";
import { registerMachine } from "../../server/src/domains/supply/hosts/index.ts";
import { creditOf, ISSUANCE, postTransfers } from "../../server/src/domains/money/ledger/index.ts";
import { refreshOffers } from "../../server/src/domains/supply/market/index.ts";

export type BenchUser = { readonly id: UserId; readonly email: string; readonly secret: string };

const ROWS_PER_STATEMENT = 1_000;

/** Users with a key that may do everything and so much credit, posted by the ledger itself. */
export async function seedUsers(
  database: Database,
  { count, creditDollars }: { readonly count: number; readonly creditDollars: number },
): Promise<readonly BenchUser[]> {
  const run = randomUUID().slice(0, 8);
  const wanted = Array.from({ length: count }, (_, index) => ({
    email: `bench-${run}-${index}@example.com`,
    key: newKey(randomBytes),
  }));
  const { rows } = await database.pool.query<{ id: number; email: string }>(
    `insert into users (email, username, created_at) select email, email, $2 from unnest($1::text[]) as u (email)
     returning id, email`,
    [wanted.map(({ email }) => email), systemClock.now()],
  );
  const ids = new Map(rows.map((row) => [row.email, asId<UserId>(row.id)]));
  const users = wanted.map(({ email, key }) => ({ id: ids.get(email) ?? asId<UserId>(0), email, secret: key.secret }));
  await database.pool.query(
    `insert into api_keys (user_id, name, key_sha256, key_prefix, created_at)
     select user_id, 'bench', sha256, prefix, $4
     from unnest($1::integer[], $2::bytea[], $3::text[]) as k (user_id, sha256, prefix)`,
    [
      users.map((user) => user.id),
      wanted.map(({ key }) => key.sha256),
      wanted.map(({ key }) => key.prefix),
      systemClock.now(),
    ],
  );
  for (let start = 0; start < users.length; start += ROWS_PER_STATEMENT) {
    const some = users.slice(start, start + ROWS_PER_STATEMENT);
    await withTransaction(database, systemClock, (tx) =>
      postTransfers(
        tx,
        some.map(({ id }) => ({
          key: `bench-credit-${id}`,
          debit: ISSUANCE,
          credit: creditOf(id),
          amount: nanos(BigInt(creditDollars) * NANOS_PER_DOLLAR),
          code: "credit_granted",
          cause: { actor: "bench" },
          description: "credit for a benchmark",
        })),
      ),
    );
  }
  return users;
}

/**
 * Machines that count as connected although no agent process stands behind them. A few distinct ones take the
 * registration path of real agents; the others are copies of those rows under names of their own.
 */
export async function seedMachines(
  database: Database,
  { hosts, gpusPerHost }: { readonly hosts: number; readonly gpusPerHost: number },
): Promise<readonly MachineId[]> {
  const models = await registerModels(database, gpusPerHost, Math.min(hosts, 16));
  const { pool } = database;
  const clones = hosts - models.length;
  const cloned = await pool.query<{ id: number }>(
    `insert into machines overriding system value
     select (jsonb_populate_record(m, jsonb_build_object(
       'id', nextval(pg_get_serial_sequence('machines', 'id')), 'host_key', 'bench-' || n
     ))).*
     from generate_series(1, $2::integer) as n
     join machines m on m.id = ($1::integer[])[1 + n % cardinality($1::integer[])]
     returning id`,
    [models, clones],
  );
  const ids = cloned.rows.map(({ id }) => id);
  await pool.query(
    `insert into devices overriding system value
     select (jsonb_populate_record(d, jsonb_build_object(
       'id', nextval(pg_get_serial_sequence('devices', 'id')), 'machine_id', c.id, 'uuid', c.id || '-' || d.position
     ))).*
     from unnest($2::integer[]) with ordinality as c (id, n)
     join devices d on d.machine_id = ($1::integer[])[1 + c.n % cardinality($1::integer[])]`,
    [models, ids],
  );
  await analyze(pool);
  const all = [...models, ...ids].map((id) => asId<MachineId>(id));
  for (let start = 0; start < all.length; start += ROWS_PER_STATEMENT) {
    const some = all.slice(start, start + ROWS_PER_STATEMENT);
    await withTransaction(database, systemClock, (tx) => refreshOffers(tx, some));
  }
  await analyze(pool);
  return all;
}

async function registerModels(database: Database, gpusPerHost: number, count: number): Promise<readonly number[]> {
  return withTransaction(database, systemClock, async (tx) => {
    const { rows } = await database.pool.query<{ id: number; user_id: number }>(
      `insert into agent_credentials (user_id, name, token_sha256, is_trusted, created_at)
       select id, 'bench', $1, true, $2 from users where is_admin order by id limit 1 returning id, user_id`,
      [randomBytes(32), tx.now],
    );
    const [row] = rows;
    if (row === undefined) throw new Error("there is no administrator to own the machines");
    const credential = { id: asId<never>(row.id), userId: asId<UserId>(row.user_id), isTrusted: true };
    const ids: MachineId[] = [];
    for (let number = 0; number < count; number += 1) {
      ids.push((await registerMachine(tx, credential, helloOf(number, gpusPerHost))).machineId);
    }
    // All machines are offered in single GPUs, although invented hosts would choose larger chunks.
    await tx.db.updateTable("machines").set({ min_chunk: 1 }).where("id", "in", ids).execute();
    return ids;
  });
}

/** The hello of a simulated agent with exactly this number of GPUs. */
function helloOf(number: number, gpuCount: number): Hello {
  const hostKey = `bench-model-${number}`;
  const invented = simulatedFacts(hostKey, number);
  const [gpu] = invented.gpus;
  if (gpu === undefined) throw new Error("a simulated machine has a GPU");
  return {
    kind: "hello",
    protocol_version: 2,
    agent_version: "bench",
    host_key: hostKey,
    boot_id: "bench",
    fingerprint: "fingerprint",
    session_proof: "",
    engine: { kind: "simulated", version: "1" },
    machine: invented.machine,
    gpus: Array.from({ length: gpuCount }, (_, index) => ({ ...gpu, uuid: `${hostKey}-${index}`, index })),
  };
}

async function analyze(pool: pg.Pool): Promise<void> {
  await pool.query("analyze machines, devices, offers");
}

/** The live offers of one GPU, by machine. */
export async function listSingleOffers(database: Database): Promise<readonly number[]> {
  const { rows } = await database.pool.query<{ id: number }>(
    "select id from offers where retired_at is null and device_count = 1 order by machine_id",
  );
  return rows.map(({ id }) => id);
}

const OFFERS_WAIT_MS = 900_000;

/** Waits until the server's market shows offers of all these machines, so that reading them is not measured. */
export async function waitForOffers(server: BenchServer, machineCount: number): Promise<void> {
  const startMs = systemClock.monotonicMs();
  const { rows } = await server.database.pool.query<{ n: number }>(
    "select count(*)::integer as n from offers where retired_at is null",
  );
  const expected = rows[0]?.n ?? 0;
  while (systemClock.monotonicMs() - startMs < OFFERS_WAIT_MS) {
    const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.adminKey}` } });
    const shown = Number(/^berth_offers (\d+)$/m.exec(await response.text())?.[1] ?? 0);
    if (shown >= expected && expected >= machineCount) return;
    await systemClock.sleep(100);
  }
  throw new Error(`the server does not show ${expected} offers`);
}
