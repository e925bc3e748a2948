import { sql, type RawBuilder } from "kysely";
import type { AgentCredentialId, MachineId, ServerId, UserId } from "../../../../base/ids.ts";
import { plainAddress } from "../../../../base/public-address.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { isElsewhere, type ConnectedFrom } from "../addresses/shared-addresses.ts";

/**
 * Channel on which a server asks the server that has a machine's connection for a tunnel; the payload is an
 * `AskedTunnel`.
 */
export const TUNNELS_CHANNEL = "agent_tunnels";

/** The server and the address of a machine's connection. */
export type Connection = {
  readonly machineId: MachineId;
  readonly credentialId: AgentCredentialId;
  /** Null where the server has no row of its own. */
  readonly serverId: ServerId | null;
  /** The address that its connection came from. */
  readonly address: string | undefined;
};

const COLUMNS = ["id", "agent_credential_id", "server_id", "agent_address"] as const;

/** The connection of a machine to any server; undefined while there is none. */
export async function findConnection(db: Reader, machineId: MachineId): Promise<Connection | undefined> {
  const row = await db
    .selectFrom("machines")
    .select(COLUMNS)
    .where("id", "=", machineId)
    .where("is_connected", "=", true)
    .executeTakeFirst();
  return row && toConnection(row);
}

/** SQL for other stores: true for a machine that is connected to this server; undefined names the only one. */
export const isConnectedTo = (machineId: RawBuilder<unknown>, serverId: ServerId | undefined) =>
  sql<boolean>`exists (
    select from machines
    where machines.id = ${machineId} and machines.is_connected
      and machines.server_id is not distinct from ${serverId ?? null}::integer
  )`;

/** The addresses that are proven to be a machine's own; certificates name the first. */
export type ProvenPlace = { readonly addresses: readonly [string, ...string[]] };

/**
 * The address that the connection of a machine's agent proves, and the public address at which the machine answered the
 * server's call; undefined while it is not connected. A call proves nothing at an address from which a machine of
 * another host is connected: a renter of that machine may have answered. A connection proves nothing when it seems to
 * come through a proxy that hides the source: the address is the proxy's. The agent that a server starts itself
 * connects over the loopback; its public address is the one that the operator configured.
 */
export async function findProvenPlace(db: Reader, machineId: MachineId): Promise<ProvenPlace | undefined> {
  const { rows } = await sql<{
    agent_address: string | null;
    proven_address: string | null;
    public_ipaddr: string;
    has_joined: boolean;
  }>`
    select machines.agent_address, machines.facts ->> 'public_ipaddr' as public_ipaddr,
      agent_credentials.fingerprint is not null as has_joined,
      case when not exists (
        select from machines as others
        where others.is_connected and others.host_id <> machines.host_id
          and others.agent_address in (machines.proven_address, '::ffff:' || machines.proven_address)
      ) then machines.proven_address end as proven_address
    from machines join agent_credentials on agent_credentials.id = machines.agent_credential_id
    where machines.id = ${machineId} and machines.is_connected
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const named = row.has_joined ? row.proven_address : row.public_ipaddr;
  const from = row.agent_address === null ? undefined : plainAddress(row.agent_address);
  const isProxy = from !== undefined && row.has_joined && isElsewhere(from, await listConnectedFrom(db, from));
  const connected = isProxy ? undefined : from;
  const [first, ...others] = [named, connected].filter((address) => typeof address === "string");
  return first === undefined ? undefined : { addresses: [first, ...others] };
}

/** The connection, to any server, of the machine that an agent names; undefined while there is none. */
export async function findConnectionNamed(
  db: Reader,
  { credentialId, hostKey }: { readonly credentialId: AgentCredentialId; readonly hostKey: string },
): Promise<Connection | undefined> {
  const row = await db
    .selectFrom("machines")
    .select(COLUMNS)
    .where("agent_credential_id", "=", credentialId)
    .where("host_key", "=", hostKey)
    .where("is_connected", "=", true)
    .executeTakeFirst();
  return row && toConnection(row);
}

function toConnection(row: {
  readonly id: MachineId;
  readonly agent_credential_id: AgentCredentialId;
  readonly server_id: ServerId | null;
  readonly agent_address: string | null;
}): Connection {
  return {
    machineId: row.id,
    credentialId: row.agent_credential_id,
    serverId: row.server_id,
    address: row.agent_address ?? undefined,
  };
}

/** Tells all servers at once; the server that has the agent acts. */
export async function announceTunnel(db: Reader, payload: string): Promise<void> {
  await sql`select pg_notify(${TUNNELS_CHANNEL}, ${payload})`.execute(db);
}

const ROWS_MAX = 10_000;

/**
 * Sources of the connections of machines that joined, with the public addresses that they name: all from this address,
 * or all from addresses that several hosts share and from proxies that hide the source. Simulated machines have no
 * address.
 */
export async function listConnectedFrom(db: Reader, address?: string): Promise<readonly ConnectedFrom[]> {
  const { rows } = await sql<{ host_id: UserId; address: string | null; named: string; machines: number }>`
    with joined as (
      select machines.host_id, regexp_replace(machines.agent_address, '^::ffff:(?=[0-9]+[.])', '', 'i') as address,
        machines.facts ->> 'public_ipaddr' as named
      from machines join agent_credentials on agent_credentials.id = machines.agent_credential_id
      where machines.is_connected and agent_credentials.fingerprint is not null
        and not coalesce((machines.facts ->> 'is_simulated')::boolean, false)
    )
    select host_id, address, named, count(*)::integer as machines from joined
    where case when ${address ?? null}::text is not null then address = ${address ?? null}
      else address is null
        or address in (select address from joined group by address having count(distinct host_id) > 1) end
    group by host_id, address, named order by address, host_id, named limit ${ROWS_MAX}
  `.execute(db);
  return rows.map((row) => ({
    hostId: row.host_id,
    address: row.address ?? undefined,
    named: row.named,
    machineCount: row.machines,
  }));
}
