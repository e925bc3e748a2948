// Durable credit transfers per second over HTTP into one hot account, beside the driver doing one transaction at a time.
import { systemClock } from "../server/src/base/clock.ts";
import { nanos } from "../server/src/base/money.ts";
import type { LedgerAccountId } from "../server/src/base/ids.ts";
import type { Database } from "../server/src/db/connect.ts";
import { auditLedger, createTransferPoster, creditOf } from "../server/src/domains/money/ledger/index.ts";
import { readNumbers } from "./support/arguments.ts";
import { startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { median, medianAndRange, quantile, rounded, table } from "./support/figures.ts";
import { requestText, startLoadGenerator, type LoadGenerator } from "./support/load.ts";
import { processorMs, processorMsWithChildren } from "./support/processes.ts";
import { seedUsers, type BenchUser } from "./support/seed.ts";

const CREDIT_DOLLARS = 1_000_000;
const AMOUNT_DOLLARS = 0.01;
const AMOUNT_NANOS = 10_000_000n;
const CAUSE = '{"ip_address": "127.0.0.1"}';
const WARM_UP_MS = 1_000;
/** The connections in the pool of one process; further callers of the driver wait for one of them. */
const CONNECTIONS_MAX = 16;

type Account = BenchUser & { readonly accountId: LedgerAccountId };
type Market = { readonly senders: readonly Account[]; readonly recipient: Account };
type Measured = { readonly count: number; readonly perSecond: number; readonly p50Ms: number };
type Round = Measured & { readonly serverMicros: number; readonly postgresMicros: number };
type Way = { readonly name: string; readonly rounds: Round[]; run(forMs: number): Promise<Measured> };

/** Every figure is void unless each acknowledged transfer is there, no other is, and the books are sound. */
export async function run(args: readonly string[]): Promise<void> {
  const { clients, seconds, rounds } = readNumbers(args, { clients: 16, seconds: 3, rounds: 5 });
  const server = await startBenchServer({}, { connections: Math.min(clients, CONNECTIONS_MAX) });
  const load = startLoadGenerator();
  try {
    print(describeEnvironment(server.dataDir));
    const market = await makeMarket(server, clients);
    const ways = [
      driverWay(server.database, market),
      functionWay(server.database, market),
      posterWay(server.database, market),
      httpWay(server, load, market),
    ];
    let acknowledged = 0;
    for (const way of ways) acknowledged += (await way.run(WARM_UP_MS)).count;
    for (let round = 0; round < rounds; round += 1) {
      for (const way of ways) acknowledged += await measure(server, way, seconds * 1000);
    }
    report(ways, { clients, seconds, rounds });
    await audit(server, market, acknowledged);
  } finally {
    load.stop();
    await server.stop();
  }
}

/** One sender per client, and one recipient for all of them. */
async function makeMarket({ database }: BenchServer, clients: number): Promise<Market> {
  const users = await seedUsers(database, { count: clients + 1, creditDollars: CREDIT_DOLLARS });
  const { rows } = await database.pool.query<{ id: LedgerAccountId; user_id: number }>(
    "select id, user_id from ledger_accounts where kind = 'credit'",
  );
  const [recipient, ...senders] = users.map((user) => {
    const account = rows.find(({ user_id: userId }) => userId === user.id);
    if (account === undefined) throw new Error("a user with credit has an account");
    return { ...user, accountId: account.id };
  });
  if (recipient === undefined) throw new Error("there is a recipient");
  return { senders, recipient };
}

function httpWay({ port }: BenchServer, load: LoadGenerator, { senders, recipient }: Market): Way {
  const body = { recipient: String(recipient.id), amount: AMOUNT_DOLLARS, client_id: "me" };
  const path = "/api/v0/commands/transfer_credit/";
  const requests = senders.map(({ secret }) => requestText({ method: "PUT", path, secret, body }));
  return {
    name: "Berth over HTTP",
    rounds: [],
    async run(forMs) {
      const job = { port, connections: senders.length, requests, repeatMs: forMs, keepsAnswers: false };
      const { count, elapsedMs, statuses, latenciesMs } = await load.run(job);
      if (statuses.get(200) !== count) throw new Error(`transfers were refused: ${[...statuses].join("; ")}`);
      return { count, perSecond: (count / elapsedMs) * 1000, p50Ms: quantile(latenciesMs, 0.5) };
    },
  };
}

/** Lets each caller make one transfer after the other. */
function everyCaller(senders: readonly Account[], transfer: (sender: Account) => Promise<void>): Way["run"] {
  return async (forMs) => {
    const latencies: number[] = [];
    const startMs = systemClock.monotonicMs();
    const call = async (sender: Account) => {
      for (let beforeMs = startMs; beforeMs < startMs + forMs;) {
        await transfer(sender);
        const afterMs = systemClock.monotonicMs();
        latencies.push(afterMs - beforeMs);
        beforeMs = afterMs;
      }
    };
    await Promise.all(senders.map(call));
    const elapsedMs = systemClock.monotonicMs() - startMs;
    const count = latencies.length;
    return { count, perSecond: (count / elapsedMs) * 1000, p50Ms: quantile(latencies, 0.5) };
  };
}

/** The way of a service without batching, with the same durable effects: two balances, a transfer, an audit record. */
function driverWay({ pool }: Database, { senders, recipient }: Market): Way {
  return {
    name: "driver, one transaction at a time",
    rounds: [],
    run: everyCaller(senders, async (sender) => {
      const client = await pool.connect();
      const query = (name: string, text: string, values: readonly unknown[]) =>
        client.query({ name, text, values: [...values] });
      try {
        await client.query("begin");
        const locked = await query(
          "bench_lock",
          "select id, balance_nanos, held_nanos from ledger_accounts where id in ($1, $2) order by id for update",
          [sender.accountId, recipient.accountId],
        );
        const own = locked.rows.find(({ id }) => id === sender.accountId);
        if (own === undefined || own.balance_nanos - own.held_nanos < AMOUNT_NANOS)
          throw new Error("too little credit");
        await query("bench_add", "update ledger_accounts set balance_nanos = balance_nanos + $2 where id = $1", [
          sender.accountId,
          -AMOUNT_NANOS,
        ]);
        await query("bench_add", "update ledger_accounts set balance_nanos = balance_nanos + $2 where id = $1", [
          recipient.accountId,
          AMOUNT_NANOS,
        ]);
        await query(
          "bench_insert",
          `insert into ledger_transfers
            (key, debit_account_id, credit_account_id, amount_nanos, code, cause, description, created_at)
          values ($1, $2, $3, $4, 'credit_transfer', $5, 'bench', $6)`,
          [crypto.randomUUID(), sender.accountId, recipient.accountId, AMOUNT_NANOS, CAUSE, systemClock.now()],
        );
        await client.query("commit");
      } finally {
        client.release();
      }
    }),
  };
}

/** Berth's function for a whole batch, called for each transfer: only batching differs. */
function functionWay({ pool }: Database, { senders, recipient }: Market): Way {
  return {
    name: "driver, one function call at a time",
    rounds: [],
    run: everyCaller(senders, async (sender) => {
      await pool.query({
        name: "bench_post",
        text: "select * from ledger_post_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        values: [
          [sender.id, recipient.id],
          ["credit", "credit"],
          [crypto.randomUUID()],
          [1],
          [2],
          [AMOUNT_NANOS],
          ["credit_transfer"],
          [CAUSE],
          ["bench"],
          [1],
          systemClock.now(),
        ],
      });
    }),
  };
}

/** The way of Berth behind HTTP: the transfers of all callers share one statement and one commit. */
function posterWay(database: Database, { senders, recipient }: Market): Way {
  const poster = createTransferPoster(database, systemClock);
  return {
    name: "Berth in process",
    rounds: [],
    run: everyCaller(senders, async (sender) => {
      const { kind } = await poster.post({
        key: crypto.randomUUID(),
        debit: creditOf(sender.id),
        credit: creditOf(recipient.id),
        amount: nanos(AMOUNT_NANOS),
        code: "credit_transfer",
        cause: { ip_address: "127.0.0.1" },
        description: "bench",
      });
      if (kind !== "posted") throw new Error(`a transfer was refused: ${kind}`);
    }),
  };
}

/** Measures one round with the processor time that it took; returns how many transfers were acknowledged. */
async function measure(server: BenchServer, way: Way, forMs: number): Promise<number> {
  const usedMs = () => [processorMs(server.processId), processorMsWithChildren(server.postgresProcessId)] as const;
  const [serverBefore, postgresBefore] = usedMs();
  const measured = await way.run(forMs);
  const [serverAfter, postgresAfter] = usedMs();
  way.rounds.push({
    ...measured,
    serverMicros: ((serverAfter - serverBefore) / measured.count) * 1000,
    postgresMicros: ((postgresAfter - postgresBefore) / measured.count) * 1000,
  });
  return measured.count;
}

function report(ways: readonly Way[], { clients, seconds, rounds }: Record<"clients" | "seconds" | "rounds", number>) {
  const rows = ways.map(({ name, rounds: measured }) => [
    name,
    medianAndRange(measured.map(({ perSecond }) => perSecond)),
    rounded(median(measured.map(({ p50Ms }) => p50Ms)), 2),
    rounded(median(measured.map(({ serverMicros }) => serverMicros))),
    rounded(median(measured.map(({ postgresMicros }) => postgresMicros))),
  ]);
  print(`\n${clients} clients into one hot account, medians of ${rounds} interleaved rounds of ${seconds} s:\n`);
  print(table([["", "transfers/s", "p50 ms", "server µs", "PostgreSQL µs"], ...rows]));
  const [transaction = 1, call = 1, , http = 0] = ways.map((way) =>
    median(way.rounds.map(({ perSecond }) => perSecond)),
  );
  print(`\nOver one transaction at a time: ${rounded(http / transaction, 2)} times (aim: 3).`);
  print(`Over one function call at a time: ${rounded(http / call, 2)} times.`);
}

/** Every transfer that a client saw succeed is there, and nothing else; the books are sound. */
async function audit({ database }: BenchServer, { recipient }: Market, acknowledged: number): Promise<void> {
  const { isSound, differences, transferCount } = await auditLedger(database.kysely);
  const { rows } = await database.pool.query<{ balance: bigint; received: bigint }>(
    `select (select balance_nanos from ledger_accounts where id = $1) as balance,
      (select count(*) from ledger_transfers where credit_account_id = $1 and code = 'credit_transfer') as received`,
    [recipient.accountId],
  );
  const granted = BigInt(CREDIT_DOLLARS) * 1_000_000_000n;
  const isComplete =
    rows[0]?.received === BigInt(acknowledged) && rows[0].balance === granted + BigInt(acknowledged) * AMOUNT_NANOS;
  if (isSound && isComplete) {
    print(
      `Audit: ${transferCount} transfers, all that were acknowledged and no other; balances sum to 0, each is right.`,
    );
    return;
  }
  print(`VOID: the audit failed, so the numbers above mean nothing. ${differences.map(({ kind }) => kind).join(", ")}`);
  process.exitCode = 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
