import type { UpdateResult } from "../../../../../../protocol/index.ts";
import { sql } from "kysely";
import type { AgentCredentialId, JoinTokenId, MachineId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { isLiveUser } from "../../../people/accounts/for-hosts.ts";

/** Channel that carries the id of a revoked credential at commit. */
export const REVOKED_CHANNEL = "agent_credential_revoked";

export type JoinToken = {
  readonly id: JoinTokenId;
  readonly userId: UserId;
  readonly name: string;
  readonly isTrusted: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | undefined;
  readonly usedBySha256: Buffer | undefined;
  readonly credentialId: AgentCredentialId | undefined;
};

/** A machine as its owner sees it. */
export type JoinedMachine = {
  readonly id: MachineId;
  readonly hostKey: string;
  readonly hostname: string;
  readonly isSimulated: boolean;
  readonly isConnected: boolean;
  readonly lastSeenAt: Date;
  readonly cloneDetectedAt: Date | undefined;
  /** A sentence for each GPU that is out of the market. */
  readonly gpuProblems: readonly string[];
  readonly agentVersion: string;
  /** The end of its agent's last attempt to update itself. */
  readonly agentUpdate: UpdateResult | undefined;
};

export type AgentCredential = {
  readonly id: AgentCredentialId;
  readonly name: string;
  /** False for the agent that the server starts itself. */
  readonly hasJoined: boolean;
  readonly createdAt: Date;
  readonly revokedAt: Date | undefined;
  readonly machines: readonly JoinedMachine[];
};

/** The joining machine as its agent names it. */
export type Joiner = { readonly fingerprint: string; readonly hostKey: string };

const TOKEN_COLUMNS = [
  "id",
  "user_id",
  "name",
  "is_trusted",
  "created_at",
  "expires_at",
  "used_at",
  "used_by_sha256",
  "agent_credential_id",
] as const;

/** Unused, unexpired tokens of a user. */
export async function countOpenJoinTokens(tx: Tx, userId: UserId): Promise<number> {
  const { count } = await tx.db
    .selectFrom("join_tokens")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where("used_at", "is", null)
    .where("expires_at", ">", tx.now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function insertJoinToken(
  tx: Tx,
  {
    userId,
    name,
    tokenSha256,
    isTrusted,
    expiresAt,
  }: { userId: UserId; name: string; tokenSha256: Buffer; isTrusted: boolean; expiresAt: Date },
): Promise<JoinTokenId> {
  const row = await tx.db
    .insertInto("join_tokens")
    .values({
      user_id: userId,
      name,
      token_sha256: tokenSha256,
      is_trusted: isTrusted,
      created_at: tx.now,
      expires_at: expiresAt,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Tokens of a user, newest first, used and expired ones included. */
export async function listJoinTokens(db: Reader, userId: UserId, limit: number): Promise<readonly JoinToken[]> {
  const rows = await db
    .selectFrom("join_tokens")
    .select(TOKEN_COLUMNS)
    .where("user_id", "=", userId)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toJoinToken);
}

export async function deleteJoinToken(tx: Tx, userId: UserId, id: JoinTokenId): Promise<boolean> {
  const result = await tx.db
    .deleteFrom("join_tokens")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Locks the token, so that two requests with the same token are served one after the other. */
export async function findJoinTokenForUpdate(tx: Tx, tokenSha256: Buffer): Promise<JoinToken | undefined> {
  const row = await tx.db
    .selectFrom("join_tokens")
    .select(TOKEN_COLUMNS)
    .where("token_sha256", "=", tokenSha256)
    .where(isLiveUser(sql.ref("join_tokens.user_id")))
    .forUpdate("join_tokens")
    .executeTakeFirst();
  return row && toJoinToken(row);
}

export async function markTokenUsed(
  tx: Tx,
  id: JoinTokenId,
  { usedBySha256, credentialId }: { usedBySha256: Buffer; credentialId: AgentCredentialId },
): Promise<void> {
  await tx.db
    .updateTable("join_tokens")
    .set({ used_at: tx.now, used_by_sha256: usedBySha256, agent_credential_id: credentialId })
    .where("id", "=", id)
    .execute();
}

/** Those of these credentials that are not revoked. Locked: none is revoked before the transaction ends. */
export async function lockLiveCredentials(
  tx: Tx,
  ids: readonly AgentCredentialId[],
): Promise<ReadonlySet<AgentCredentialId>> {
  const rows = await tx.db
    .selectFrom("agent_credentials")
    .select("id")
    .where("id", "=", sql<AgentCredentialId>`any(${ids}::integer[])`)
    .where("revoked_at", "is", null)
    .orderBy("id")
    .forShare()
    .execute();
  return new Set(rows.map((row) => row.id));
}

/** The kinds of machines that a credential has brought in so far. */
export type MachineKinds = { readonly hasReal: boolean; readonly hasSimulated: boolean };

/**
 * Locks these credentials against other arrivals until the commit, and returns the kinds of machines that each brought
 * in before.
 */
export async function lockMachineKinds(
  tx: Tx,
  ids: readonly AgentCredentialId[],
): Promise<Map<AgentCredentialId, MachineKinds>> {
  if (ids.length === 0) return new Map();
  await sql`
    select from agent_credentials where id = any(${ids}::integer[]) order by id for no key update
  `.execute(tx.db);
  const { rows } = await sql<{ id: AgentCredentialId; has_real: boolean; has_simulated: boolean }>`
    select agent_credential_id as id, bool_or(engine_kind <> 'simulated') as has_real,
      bool_or(engine_kind = 'simulated') as has_simulated
    from machines where agent_credential_id = any(${ids}::integer[])
    group by agent_credential_id
  `.execute(tx.db);
  return new Map(rows.map((row) => [row.id, { hasReal: row.has_real, hasSimulated: row.has_simulated }]));
}

/**
 * Rows of the joining machine under earlier credentials of this user, locked. They have the same name and the same
 * hardware; the hardware may differ only where the user revoked the credential, so that a replacement takes the place.
 */
export async function lockEarlierMachines(
  tx: Tx,
  userId: UserId,
  { fingerprint, hostKey }: Joiner,
): Promise<readonly { readonly id: MachineId; readonly isConnected: boolean }[]> {
  const rows = await tx.db
    .selectFrom("machines")
    .innerJoin("agent_credentials", "agent_credentials.id", "machines.agent_credential_id")
    .select(["machines.id", "machines.is_connected"])
    .where("agent_credentials.user_id", "=", userId)
    .where("agent_credentials.host_key", "=", hostKey)
    .where((eb) =>
      eb.or([
        eb("agent_credentials.fingerprint", "=", fingerprint),
        eb("agent_credentials.revoked_at", "is not", null),
      ]),
    )
    .orderBy("machines.id")
    .forUpdate("machines")
    .execute();
  return rows.map((row) => ({ id: row.id, isConnected: row.is_connected }));
}

/** Gives machines to another credential. The session proof of the earlier credential is deleted. */
export async function rebindMachines(
  tx: Tx,
  ids: readonly MachineId[],
  credentialId: AgentCredentialId,
): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set({
      agent_credential_id: credentialId,
      proof_sha256: null,
      previous_proof_sha256: null,
      clone_noticed_at: null,
      // A machine that its host deleted comes back with its history.
      deleted_at: null,
    })
    .where("id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .execute();
}

/** Revokes earlier credentials of the same machine, except the given one. */
export async function revokeEarlierCredentials(
  tx: Tx,
  userId: UserId,
  { fingerprint, hostKey, except }: Joiner & { readonly except: AgentCredentialId },
): Promise<void> {
  const rows = await tx.db
    .updateTable("agent_credentials")
    .set({ revoked_at: tx.now })
    .where("user_id", "=", userId)
    .where("fingerprint", "=", fingerprint)
    .where("host_key", "=", hostKey)
    .where("id", "<>", except)
    .where("revoked_at", "is", null)
    .returning("id")
    .execute();
  for (const { id } of rows) await notifyRevoked(tx, id);
}

/** Result of a request to revoke a credential of the user. */
export type Revocation = "revoked" | "already" | "own_agent" | "absent";

export async function revokeCredential(tx: Tx, userId: UserId, id: AgentCredentialId): Promise<Revocation> {
  const row = await tx.db
    .selectFrom("agent_credentials")
    .select(["fingerprint", "revoked_at"])
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return "absent";
  if (row.fingerprint === null) return "own_agent";
  if (row.revoked_at !== null) return "already";
  await tx.db.updateTable("agent_credentials").set({ revoked_at: tx.now }).where("id", "=", id).execute();
  await notifyRevoked(tx, id);
  return "revoked";
}

/** The revoked ones of these credentials. */
export async function listRevoked(
  db: Reader,
  ids: readonly AgentCredentialId[],
): Promise<readonly AgentCredentialId[]> {
  const rows = await db
    .selectFrom("agent_credentials")
    .select("id")
    .where("id", "=", sql<AgentCredentialId>`any(${ids}::integer[])`)
    .where("revoked_at", "is not", null)
    .execute();
  return rows.map(({ id }) => id);
}

/** True when the host deleted the machine or its agent's credential was revoked: nothing runs there any more. */
export async function isWithdrawn(db: Reader, machineId: MachineId): Promise<boolean> {
  const row = await db
    .selectFrom("machines")
    .innerJoin("agent_credentials", "agent_credentials.id", "machines.agent_credential_id")
    .select("machines.id")
    .where("machines.id", "=", machineId)
    .where((eb) => eb.or([eb("deleted_at", "is not", null), eb("revoked_at", "is not", null)]))
    .executeTakeFirst();
  return row !== undefined;
}

/** Credentials of a user with their machines, oldest first; revoked ones only while a machine still belongs to them. */
export async function listCredentials(db: Reader, userId: UserId): Promise<readonly AgentCredential[]> {
  const { rows } = await sql<CredentialRow>`
    select c.id, c.name, c.fingerprint is not null as has_joined, c.created_at, c.revoked_at, m.id as machine_id, m.host_key,
      m.facts ->> 'hostname' as hostname, m.engine_kind = 'simulated' as is_simulated, m.is_connected, m.last_seen_at,
      m.clone_noticed_at, m.agent_version, m.agent_update,
      array(
        select (d.facts ->> 'name') || ' ' || d.position || ': ' || d.health_reason from devices d
        where d.machine_id = m.id and d.kind = 'gpu' and d.is_present and not d.is_healthy order by d.position
      ) as gpu_problems
    from agent_credentials c left join machines m on m.agent_credential_id = c.id and m.deleted_at is null
    where c.user_id = ${userId} and (c.revoked_at is null or m.id is not null)
    order by c.id, m.id
  `.execute(db);
  const found = new Map<AgentCredentialId, AgentCredential & { readonly machines: JoinedMachine[] }>();
  for (const row of rows) {
    const credential = found.get(row.id) ?? {
      id: row.id,
      name: row.name,
      hasJoined: row.has_joined,
      createdAt: row.created_at,
      revokedAt: row.revoked_at ?? undefined,
      machines: [],
    };
    found.set(row.id, credential);
    const machine = toMachine(row);
    if (machine !== undefined) credential.machines.push(machine);
  }
  return [...found.values()];
}

type CredentialRow = {
  readonly id: AgentCredentialId;
  readonly name: string;
  readonly has_joined: boolean;
  readonly created_at: Date;
  readonly revoked_at: Date | null;
  // All columns are null for a credential that has brought in no machine yet.
  readonly machine_id: MachineId | null;
  readonly host_key: string | null;
  readonly hostname: string | null;
  readonly is_simulated: boolean | null;
  readonly is_connected: boolean | null;
  readonly last_seen_at: Date | null;
  readonly clone_noticed_at: Date | null;
  readonly gpu_problems: readonly string[];
  readonly agent_version: string | null;
  readonly agent_update: UpdateResult | null;
};

function toMachine(row: CredentialRow): JoinedMachine | undefined {
  if (row.machine_id === null || row.last_seen_at === null) return undefined;
  return {
    id: row.machine_id,
    hostKey: row.host_key ?? "",
    hostname: row.hostname ?? "",
    isSimulated: row.is_simulated ?? false,
    isConnected: row.is_connected ?? false,
    lastSeenAt: row.last_seen_at,
    cloneDetectedAt: row.clone_noticed_at ?? undefined,
    gpuProblems: row.gpu_problems,
    agentVersion: row.agent_version ?? "",
    agentUpdate: row.agent_update ?? undefined,
  };
}

function toJoinToken(row: {
  readonly id: JoinTokenId;
  readonly user_id: UserId;
  readonly name: string;
  readonly is_trusted: boolean;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly used_at: Date | null;
  readonly used_by_sha256: Buffer | null;
  readonly agent_credential_id: AgentCredentialId | null;
}): JoinToken {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    isTrusted: row.is_trusted,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at ?? undefined,
    usedBySha256: row.used_by_sha256 ?? undefined,
    credentialId: row.agent_credential_id ?? undefined,
  };
}

async function notifyRevoked(tx: Tx, id: AgentCredentialId): Promise<void> {
  await sql`select pg_notify(${REVOKED_CHANNEL}, ${String(id)})`.execute(tx.db);
}
