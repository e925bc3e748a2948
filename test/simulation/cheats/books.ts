// The server's books about the people of some seeds, read in as few statements as possible.
import type { Case } from "./case.ts";
import { peopleIn, type CheatsWorld } from "./world.ts";
import type { Stretch } from "../month/host.ts";

export type Component = "gpu" | "disk" | "bwu" | "bwd";

export type Books = {
  /** Charges by contract, such as `instance 7` or `volume 3`. */
  readonly charged: ReadonlyMap<string, Readonly<Partial<Record<Component, bigint>>>>;
  /** Credits to renters for faults of hosts, by instance. */
  readonly givenBack: ReadonlyMap<number, bigint>;
  readonly balances: ReadonlyMap<number, Balance>;
  /** Payouts to hosts, made and due. */
  readonly paidOut: ReadonlyMap<number, bigint>;
  readonly workers: readonly Worker[];
  /** Results of standing requests. */
  readonly claims: readonly Claim[];
  /** All instances that these people rent or rented. */
  readonly instances: readonly Instance[];
  /** Amounts that disputes of a payer have taken out of a host's earnings and not given back. */
  readonly takenBack: readonly TakenBack[];
};

export type Claim = { readonly requestId: number; readonly instanceId: number };
export type Instance = {
  readonly id: number;
  readonly renterId: number;
  readonly fromMs: number;
  readonly diskGb: number;
  /** The times in which an empty balance, a cap, a limit or a freeze of its renter kept it stopped. */
  readonly stopped: readonly Stretch[];
};
export type TakenBack = { readonly hostId: number; readonly payerId: number; readonly nanos: bigint };
export type Balance = { readonly credit: bigint; readonly deposits: bigint; readonly earnings: bigint };
export type Worker = {
  readonly id: number;
  readonly endpointId: number;
  readonly fromMs: number;
  readonly diskGb: number;
};

export async function readBooks(world: CheatsWorld, cases: readonly Case[]): Promise<Books> {
  const people = peopleIn(cases);
  // Before what says how they came to be: that is written in the same transactions.
  const instances = await readInstances(world, people);
  const [charged, givenBack, balances, paidOut, workers, claims, takenBack] = await Promise.all([
    readCharged(world, people),
    readGivenBack(world, people),
    readBalances(world, people),
    readPaidOut(world, people),
    readWorkers(world, cases),
    readClaims(world, cases),
    readTakenBack(world, people),
  ]);
  return { charged, givenBack, balances, paidOut, workers, claims, instances, takenBack };
}

type People = readonly number[];
const poolOf = (world: CheatsWorld) => world.app.env.pool;

async function readCharged(world: CheatsWorld, people: People): Promise<Books["charged"]> {
  const { rows } = await poolOf(world).query<{ contract: string; component: Component; amount: bigint }>(
    `select coalesce('instance ' || instance_id, 'volume ' || volume_id) as contract, component,
       sum(amount_nanos)::bigint as amount
     from charge_lines where payer_id = any($1::integer[]) group by 1, 2`,
    [people],
  );
  const charged = new Map<string, Partial<Record<Component, bigint>>>();
  for (const { contract, component, amount } of rows) {
    const of = charged.get(contract) ?? {};
    of[component] = amount;
    charged.set(contract, of);
  }
  return charged;
}

async function readGivenBack(world: CheatsWorld, people: People): Promise<Books["givenBack"]> {
  const { rows } = await poolOf(world).query<{ id: number; amount: bigint }>(
    `select (t.cause ->> 'instance_id')::integer as id, sum(t.amount_nanos)::bigint as amount
     from ledger_transfers t join ledger_accounts a on a.id = t.credit_account_id
     where t.code = 'host_credit' and a.user_id = any($1::integer[]) group by 1`,
    [people],
  );
  return new Map(rows.map(({ id, amount }) => [id, amount]));
}

async function readBalances(world: CheatsWorld, people: People): Promise<Books["balances"]> {
  const { rows } = await poolOf(world).query<Balance & { id: number }>(
    `select user_id as id, coalesce(sum(balance_nanos) filter (where kind = 'credit'), 0)::bigint as credit,
       coalesce(sum(balance_nanos) filter (where kind like 'deposit:%'), 0)::bigint as deposits,
       coalesce(sum(balance_nanos) filter (where kind = 'earnings'), 0)::bigint as earnings
     from ledger_accounts where user_id = any($1::integer[]) group by 1`,
    [people],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

async function readPaidOut(world: CheatsWorld, people: People): Promise<Books["paidOut"]> {
  const { rows } = await poolOf(world).query<{ id: number; amount: bigint }>(
    `select user_id as id, sum(amount_nanos - returned_nanos)::bigint as amount from payouts
     where user_id = any($1::integer[]) and state <> 'failed' group by 1`,
    [people],
  );
  return new Map(rows.map(({ id, amount }) => [id, amount]));
}

type Row = {
  readonly id: number;
  readonly user_id: number;
  readonly created_at: Date;
  readonly disk: number;
  readonly stopped: readonly { readonly from: string; readonly until: string | null }[];
};

async function readInstances(world: CheatsWorld, people: People): Promise<Books["instances"]> {
  const { rows } = await poolOf(world).query<Row>(
    `select id, user_id, created_at, (disk_bytes / 1000000000)::integer as disk, coalesce((
       select json_agg(json_build_object('from', e.at, 'until', (
         select min(n.at) from instance_events n
         where n.instance_id = i.id and n.id > e.id and n.to_phase = 'starting'
       )))
       from instance_events e where e.instance_id = i.id
         and e.cause in ('balance_empty', 'cap_reached', 'traffic_limit_reached', 'account_frozen')
     ), '[]') as stopped
     from instances i where user_id = any($1::integer[])`,
    [people],
  );
  return rows.map((row) => ({
    id: row.id,
    renterId: row.user_id,
    fromMs: row.created_at.getTime(),
    diskGb: row.disk,
    stopped: row.stopped.map(({ from, until }) => ({
      fromMs: Date.parse(from),
      untilMs: until === null ? undefined : Date.parse(until),
    })),
  }));
}

async function readClaims(world: CheatsWorld, cases: readonly Case[]): Promise<Books["claims"]> {
  const ids = cases.flatMap(({ waiting }) => [...waiting.values()]).map(({ id }) => id);
  if (ids.length === 0) return [];
  const { rows } = await poolOf(world).query<{ requestId: number; instanceId: number }>(
    `select id as "requestId", instance_id as "instanceId" from standing_requests
     where id = any($1::integer[]) and instance_id is not null`,
    [ids],
  );
  return rows;
}

async function readTakenBack(world: CheatsWorld, people: People): Promise<Books["takenBack"]> {
  const { rows } = await poolOf(world).query<TakenBack>(
    `select a.user_id as "hostId", p.user_id as "payerId",
       sum(case when t.debit_account_id = a.id then t.amount_nanos else - t.amount_nanos end)::bigint as nanos
     from ledger_transfers t
     join ledger_accounts a on a.id in (t.debit_account_id, t.credit_account_id) and a.kind = 'earnings'
     join payments p on p.id = (t.cause ->> 'payment_id')::integer
     where t.code = 'taken_back' and a.user_id = any($1::integer[]) group by 1, 2`,
    [people],
  );
  return rows;
}

async function readWorkers(world: CheatsWorld, cases: readonly Case[]): Promise<readonly Worker[]> {
  const endpoints = cases.flatMap(({ fleets }) => [...fleets.values()]).map(({ endpointId }) => endpointId);
  if (endpoints.length === 0) return [];
  const { rows } = await poolOf(world).query<{ id: number; endpoint_id: number; created_at: Date; disk: number }>(
    `select i.id, w.endpoint_group_id as endpoint_id, i.created_at, (i.disk_bytes / 1000000000)::integer as disk
     from endpoint_worker_names w join instances i on i.id = w.instance_id
     where w.endpoint_group_id = any($1::integer[])`,
    [endpoints],
  );
  return rows.map((row) => ({
    id: row.id,
    endpointId: row.endpoint_id,
    fromMs: row.created_at.getTime(),
    diskGb: row.disk,
  }));
}
