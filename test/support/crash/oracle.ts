// Checks after any number of crashes: by the product's own audit, by the ledger, by the answers that the clients got,
// and by the real runs of the engines.
import { createHash } from "node:crypto";
import type { Berth } from "../berth.ts";
import type { Asked, CrashClients } from "./clients.ts";
import type { CrashWorld } from "./world.ts";
import { judgeRuns, judgeTogether, type ChargedRun, type RunVerdict } from "./runs.ts";
import { auditStorage } from "./storage.ts";
import { until } from "../until.ts";

/** A database whose rows are compared with answers. */
export type Books = { readonly berth: Pick<Berth, "sql"> };

const NANOS_PER_CENT = 10_000_000n;

export type Findings = {
  /** One sentence for each violated check. */
  readonly problems: readonly string[];
  /** The verdict of the product's own audit. */
  readonly auditWord: string;
  readonly sumNanos: string;
  readonly transferCount: number;
  readonly lineCount: number;
  readonly verdicts: readonly RunVerdict[];
};

/** Waits until all is settled, and makes all checks. */
export async function auditCrash(world: CrashWorld, clients: CrashClients): Promise<Findings> {
  const books = await auditBooks(world);
  const problems = [
    ...books.problems,
    ...(await auditAcknowledged(world, clients)),
    ...(await auditCredit(world, clients)),
    ...(await auditStorage(world, clients)),
  ];
  return { ...books, problems };
}

/** Checks that hold after all kinds of requests: the product's own audit, the ledger, and real runs against charges. */
export async function auditBooks(world: CrashWorld): Promise<Findings> {
  const unsettled: string[] = [];
  await untilSettled(world).catch((error: unknown) => {
    const cause = error instanceof Error ? error.cause : undefined;
    unsettled.push(`${String(error)}: ${String(cause)}`);
  });
  const { code, stdout, stderr } = await world.berth.cli("audit", "--full");
  const [counts] = await world.berth.sql(
    `select (select sum(balance_nanos) from ledger_accounts)::text as sum,
       (select count(*) from ledger_transfers)::int as transfers, (select count(*) from charge_lines)::int as lines`,
  );
  const verdicts = judgeRuns({ engines: world.engines(), charged: await chargedRuns(world) });
  const problems = [
    ...unsettled,
    ...(code === 0 ? [] : [`./berth audit --full ended with ${code}: ${stdout}${stderr}`]),
    ...(await auditLedger(world)),
    ...(await auditLines(world)),
    ...verdicts.flatMap(({ problem }) => problem ?? []),
    ...judgeTogether(verdicts),
  ];
  return {
    problems,
    auditWord: stdout.trim().split("\n").at(-1) ?? "",
    sumNanos: String(counts?.["sum"]),
    transferCount: Number(counts?.["transfers"]),
    lineCount: Number(counts?.["lines"]),
    verdicts,
  };
}

export async function untilSettled(world: Books): Promise<void> {
  const left = async () =>
    world.berth.sql(
      `select 'instance' as kind, id, phase, settle_at from instances join instance_tabs on instance_id = id
       where phase <> 'ended' or settle_at is not null
       union all select 'volume', id, problem, settle_at from volumes where deleted_at is null or settle_at is not null
       union all select 'fault', instance_id, reason, at from host_faults where settled_at is null`,
    );
  await until("everything to be over and settled", async () => {
    const rows = await left();
    if (rows.length > 0) throw new Error(JSON.stringify(rows.slice(0, 10)));
    return true;
  });
}

export async function auditLedger(world: Books): Promise<readonly string[]> {
  const [books] = await world.berth.sql(
    `select (select sum(balance_nanos) from ledger_accounts)::text as sum,
       (select count(*) from ledger_accounts where balance_nanos - held_nanos < floor_nanos)::int as overdrawn,
       (select count(*) from ledger_accounts a where balance_nanos <>
          coalesce((select sum(amount_nanos) from ledger_transfers where credit_account_id = a.id), 0)
          - coalesce((select sum(amount_nanos) from ledger_transfers where debit_account_id = a.id), 0))::int as wrong,
       (select count(*) from ledger_accounts where held_nanos <> 0)::int as held,
       (select count(*) from ledger_holds where state = 'pending')::int as holds,
       (select count(*) from ledger_caps where held_nanos <> 0)::int as cap_held,
       (select count(*) from leases where released_at is null)::int as leases,
       (select count(*) from leases a join leases b on a.device_id = b.device_id and a.id < b.id
         where tstzrange(a.granted_at, a.released_at) && tstzrange(b.granted_at, b.released_at))::int as leased_twice`,
  );
  const { sum, ...counts } = books ?? {};
  const wrong = Object.entries(counts).filter(([, count]) => count !== 0);
  return [
    ...(sum === "0" ? [] : [`the ledger sums to ${String(sum)}`]),
    ...wrong.map(([name, count]) => `${name}: ${String(count)} rows, with everything over`),
  ];
}

/** Finds usage that is on two charge lines, and transfers that pay two of them. */
export async function auditLines(world: Books): Promise<readonly string[]> {
  const [found] = await world.berth.sql(
    `select (select count(transfer_id) - count(distinct transfer_id) from charge_lines)::int as paid_twice,
       (select count(*) - count(distinct key) from ledger_transfers)::int as repeated_keys,
       (select count(*) from ledger_transfers t where code like 'usage_%'
         and not exists (select from charge_lines l where l.transfer_id = t.id))::int as without_line`,
  );
  const counted = Object.entries(found ?? {}).flatMap(([name, count]) =>
    count === 0 ? [] : [`${name}: ${String(count)}`],
  );
  const overlaps = await world.berth.sql(
    `select coalesce('instance ' || a.instance_id, 'volume ' || a.volume_id) || ', ' || a.component as what,
       format('%s of run %s, charged at %s, from %s to %s', a.id, a.generation, a.charged_at, a.from_at, a.to_at) as one,
       format('%s of run %s, charged at %s, from %s to %s', b.id, b.generation, b.charged_at, b.from_at, b.to_at) as other
     from charge_lines a join charge_lines b on a.id < b.id and a.component = b.component
       and (a.instance_id = b.instance_id or a.volume_id = b.volume_id)
       and tstzrange(a.from_at, a.to_at) && tstzrange(b.from_at, b.to_at)
     where a.component in ('gpu', 'disk') order by a.id`,
  );
  const told = overlaps.map(({ what, one, other }) => [what, ": line ", one, " overlaps line ", other].join(""));
  return [...counted, ...told];
}

/** Checks that the effect of each acknowledged request is there once, and no other effect. */
export async function auditAcknowledged(world: Books, clients: CrashClients): Promise<readonly string[]> {
  const problems: string[] = [];
  const same = (what: string, told: readonly (string | number)[], stored: readonly (string | number)[]) => {
    const [a, b] = [told.map(String).toSorted(), stored.map(String).toSorted()];
    const missing = a.filter((one) => !b.includes(one));
    const extra = b.filter((one) => !a.includes(one));
    if (missing.length > 0) problems.push(`${what} acknowledged and not there: ${missing.join(", ")}`);
    if (extra.length > 0) problems.push(`${what} there and not acknowledged: ${extra.join(", ")}`);
    if (a.length !== b.length) problems.push(`${what}: ${a.length} acknowledged, ${b.length} there`);
  };
  const list = async (text: string) => (await world.berth.sql(text)).map(({ one }) => String(one));
  const made = (what: Asked["what"]) => clients.done(what).map(({ id }) => id);
  same("instances", made("rent"), await list("select id as one from instances"));
  same("volumes", made("volume"), await list("select id as one from volumes"));
  same(
    "transfers",
    clients.done("transfer").map((one) => `${transferKeyOf(one)} ${BigInt(one.cents) * NANOS_PER_CENT}`),
    await list("select key || ' ' || amount_nanos as one from ledger_transfers where code = 'credit_transfer'"),
  );
  const first = clients.users.map((user) => `${user.id} ${clients.initialDollars(user) * 100}`);
  same(
    "grants",
    [...first, ...clients.done("grant").map((one) => `${one.user.id} ${one.cents}`)],
    await list(
      `select a.user_id || ' ' || t.amount_nanos / ${NANOS_PER_CENT} as one from ledger_transfers t
       join ledger_accounts a on a.id = t.credit_account_id where t.code = 'credit_granted' and t.key <> 'bootstrap credit'`,
    ),
  );
  return problems;
}

/** Checks that the answers to each user add up to their credit: given, received, sent, charged and given back. */
export async function auditCredit(world: Books, clients: CrashClients): Promise<readonly string[]> {
  const rows = await world.berth.sql(
    `select user_id, balance_nanos::text as balance,
       (select coalesce(sum(amount_nanos), 0) from charge_lines where payer_id = user_id)::text as charged,
       (select coalesce(sum(amount_nanos), 0) from ledger_transfers
         where credit_account_id = a.id and code = 'host_credit')::text as credited
     from ledger_accounts a where kind = 'credit'`,
  );
  return clients.users.flatMap((user): readonly string[] => {
    const row = rows.find((one) => one["user_id"] === user.id);
    const cents = (list: readonly Asked[]) => list.reduce((sum, one) => sum + BigInt(one.cents), 0n) * NANOS_PER_CENT;
    const [grants, transfers] = [clients.done("grant"), clients.done("transfer")];
    const told =
      BigInt(clients.initialDollars(user)) * 100n * NANOS_PER_CENT +
      cents(grants.filter((one) => one.user === user)) +
      cents(transfers.filter((one) => one.payee === user)) -
      cents(transfers.filter((one) => one.user === user));
    const expected = told - BigInt(String(row?.["charged"])) + BigInt(String(row?.["credited"]));
    if (expected === BigInt(String(row?.["balance"]))) return [];
    return [`${user.email} has ${String(row?.["balance"])} nano-dollars and should have ${expected}`];
  });
}

async function chargedRuns(world: CrashWorld): Promise<readonly ChargedRun[]> {
  const rows = await world.berth.sql(
    `select run.instance_id as "instanceId", run.generation, run.running_ms::float8 as "countedMs",
       format('its host said %s, it was metered from %s, counted at %s, sealed at %s, with %s to spare',
         run.heard_running_ms, run.metered_from_at, run.last_counted_at, run.sealed_at, run.spare_ms, run.spare_traffic_ms) as facts,
       extract(epoch from nullif(run.chargeable_until_at, 'infinity'))::float8 * 1000 as "chargeableUntilMs",
       extract(epoch from run.metered_from_at)::float8 * 1000 as "meteredFromMs",
       coalesce(sum(line.quantity), 0)::float8 as "chargedMs"
     from instance_runs run
     left join charge_lines line on line.component = 'gpu' and line.instance_id = run.instance_id
       and line.generation = run.generation
     group by run.instance_id, run.generation`,
  );
  return rows.map((row): ChargedRun => ({
    instanceId: Number(row["instanceId"]),
    generation: Number(row["generation"]),
    countedMs: Number(row["countedMs"]),
    chargedMs: Number(row["chargedMs"]),
    chargeableUntilMs: momentOf(row["chargeableUntilMs"]),
    meteredFromMs: momentOf(row["meteredFromMs"]),
    facts: String(row["facts"]),
  }));
}

function momentOf(value: unknown): number {
  return value === null ? Infinity : Number(value);
}

/** The ledger's key of a transfer that was requested with an Idempotency-Key. */
function transferKeyOf({ key, user }: Asked): string {
  return `credit_transfer:${createHash("sha256").update(`${user.keyId} ${key}`).digest("hex")}`;
}
