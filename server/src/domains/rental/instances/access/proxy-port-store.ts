import { sql } from "kysely";
import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Runtype } from "../../templates/index.ts";

/** Channel on which every process learns that an instance got its pair of proxy ports. */
export const PROXY_PORTS_CHANNEL = "proxy_ports_changed";

export type ProxyRange = { readonly first: number; readonly last: number };

/**
 * Makes the free pairs those of the configured range. A pair of an earlier range stays until its instance has ended.
 */
export async function prepareProxyPorts(tx: Tx, range: ProxyRange | undefined): Promise<void> {
  const { first, last } = range ?? { first: 1, last: 0 };
  await sql`
    delete from proxy_ports
    where instance_id is null and not (port between ${first} and ${last} - 1 and (port - ${first}) % 2 = 0)
  `.execute(tx.db);
  await sql`
    insert into proxy_ports (port)
    select port from generate_series(${first}::integer, ${last}::integer - 1, 2) as port
    where not exists (select from proxy_ports as other where other.port between port - 1 and port + 1)
    on conflict do nothing
  `.execute(tx.db);
}

/**
 * Gives each of these instances a free pair, in one statement. When fewer are free, the last instances get none: they
 * are reached directly, or not at all.
 */
export async function takeProxyPorts(tx: Tx, instanceIds: readonly InstanceId[]): Promise<void> {
  if (instanceIds.length === 0) return;
  await sql`
    with wanted as (
      select id, ordinality as number from unnest(${instanceIds}::integer[]) with ordinality as w (id, ordinality)
    ), free as (
      select port, row_number() over () as number from (
        select port from proxy_ports where instance_id is null
        order by freed_at nulls first, place
        limit ${instanceIds.length} for update skip locked
      ) as picked
    ), taken as (
      update proxy_ports set instance_id = wanted.id
      from free join wanted using (number)
      where proxy_ports.port = free.port
      returning proxy_ports.port
    )
    select pg_notify(${PROXY_PORTS_CHANNEL}, '') from (select count(*) as number from taken) as t where t.number > 0
  `.execute(tx.db);
}

/** The first port of the pair of each of these instances. */
export async function listProxyPorts(
  db: Reader,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, number>> {
  const rows = await db
    .selectFrom("proxy_ports")
    .select(["port", "instance_id"])
    .where("instance_id", "=", sql<InstanceId>`any(${instanceIds}::integer[])`)
    .execute();
  return new Map(rows.flatMap((row) => (row.instance_id === null ? [] : [[row.instance_id, row.port] as const])));
}

export type ProxiedInstance = {
  readonly port: number;
  readonly instanceId: InstanceId;
  readonly machineId: MachineId;
  readonly mode: Runtype["mode"];
};

/** All instances with proxy ports, for which the proxy listens. */
export async function listProxiedInstances(db: Reader): Promise<readonly ProxiedInstance[]> {
  const rows = await db
    .selectFrom("proxy_ports")
    .innerJoin("instances", "instances.id", "proxy_ports.instance_id")
    .select([
      "proxy_ports.port",
      "instances.id as instanceId",
      "instances.machine_id as machineId",
      sql<Runtype["mode"]>`instances.launch -> 'runtype' ->> 'mode'`.as("mode"),
    ])
    .where("instances.ended_at", "is", null)
    .orderBy("proxy_ports.port")
    .execute();
  return rows;
}

/** Frees the pairs of instances that are over, and returns their number. */
export async function freeProxyPorts(tx: Tx): Promise<number> {
  const { rows } = await sql<{ port: number }>`
    update proxy_ports set instance_id = null, freed_at = ${tx.now}::timestamptz
    from instances
    where instances.id = proxy_ports.instance_id and instances.ended_at is not null
    returning proxy_ports.port
  `.execute(tx.db);
  return rows.length;
}
