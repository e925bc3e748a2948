import { sql } from "kysely";
import type { ServerId } from "../../base/ids.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import type { Beat } from "./rules/liveness.ts";
import type { SharedSettings } from "./rules/settings.ts";

/** Facts about a server that the others read. */
export type ServerDescription = {
  /** The name of its data directory. */
  readonly dataDirKey: string;
  /** Host and path of its data directory, for people. */
  readonly place: string;
  /** Address for other servers; undefined before it listens. */
  readonly address: string | undefined;
  /** Addresses for agents, as its operator publishes them. */
  readonly agentAddresses: readonly string[];
  readonly settings: SharedSettings;
  /** The number of the newest migration that it knows. */
  readonly schemaNumber: number;
  readonly version: string;
};

/** Data shared by all servers of this database. */
export type Installation = {
  /** Null before the first start. */
  readonly secretCheck: Buffer | null;
  /** The data directory that holds the administrator's key; null while no start has noted it. */
  readonly adminKeyDataDir: string | null;
  readonly adminKeyPlace: string | null;
};

/** Waits for other servers that start at this moment: starts run one after the other. */
export async function lockInstallation(tx: Tx): Promise<Installation> {
  const row = await tx.db.selectFrom("installation").selectAll().forUpdate().executeTakeFirstOrThrow();
  return toInstallation(row);
}

export async function readInstallation(db: Reader): Promise<Installation> {
  return toInstallation(await db.selectFrom("installation").selectAll().executeTakeFirstOrThrow());
}

function toInstallation(row: {
  readonly secret_check: Buffer | null;
  readonly admin_key_data_dir: string | null;
  readonly admin_key_place: string | null;
}): Installation {
  return {
    secretCheck: row.secret_check,
    adminKeyDataDir: row.admin_key_data_dir,
    adminKeyPlace: row.admin_key_place,
  };
}

export async function setSecretCheck(tx: Tx, secretCheck: Buffer): Promise<void> {
  await tx.db.updateTable("installation").set({ secret_check: secretCheck }).execute();
}

/** Notes which data directory holds the administrator's key. */
export async function setAdminKeyPlace(
  tx: Tx,
  { dataDirKey, place }: Pick<ServerDescription, "dataDirKey" | "place">,
): Promise<void> {
  await tx.db.updateTable("installation").set({ admin_key_data_dir: dataDirKey, admin_key_place: place }).execute();
}

export type KnownServer = {
  readonly id: ServerId;
  readonly dataDirKey: string;
  readonly place: string;
  readonly settings: SharedSettings;
  readonly startedAt: Date;
  readonly beatAt: Date;
};

/** The servers that have not stopped, the latest start first; some of them may have died. */
export async function listServers(db: Reader): Promise<readonly KnownServer[]> {
  const rows = await db
    .selectFrom("servers")
    .select(["id", "data_dir_key", "place", "settings", "started_at", "beat_at"])
    .where("stopped_at", "is", null)
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    dataDirKey: row.data_dir_key,
    place: row.place,
    settings: readSettings(row.settings),
    startedAt: row.started_at,
    beatAt: row.beat_at,
  }));
}

function readSettings(value: unknown): SharedSettings {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, setting]) => [name, String(setting)]));
}

export type OlderServer = Pick<ServerDescription, "place" | "schemaNumber" | "version"> & {
  readonly id: ServerId;
  readonly beatCount: bigint;
};

/** Servers that know a schema below this number and have not stopped; some of them may have died. */
export async function listServersBelow(db: Reader, schema: number): Promise<readonly OlderServer[]> {
  const rows = await db
    .selectFrom("servers")
    .select(["id", "place", "schema_number", "version", "beat_count"])
    .where("stopped_at", "is", null)
    .where("schema_number", "<", schema)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    place: row.place,
    schemaNumber: row.schema_number,
    version: row.version,
    beatCount: row.beat_count,
  }));
}

/** Rows of earlier starts on this data directory: their processes are over. */
export async function listEarlierStarts(tx: Tx, dataDirKey: string): Promise<readonly ServerId[]> {
  const rows = await tx.db.selectFrom("servers").select("id").where("data_dir_key", "=", dataDirKey).execute();
  return rows.map((row) => row.id);
}

export async function insertServer(tx: Tx, description: ServerDescription): Promise<ServerId> {
  const { dataDirKey, place, address = null, agentAddresses, settings, schemaNumber, version } = description;
  const row = await tx.db
    .insertInto("servers")
    .values({
      data_dir_key: dataDirKey,
      place,
      address,
      agent_addresses: [...agentAddresses],
      settings: JSON.stringify(settings),
      schema_number: schemaNumber,
      version,
      started_at: tx.now,
      beat_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function deleteServers(tx: Tx, ids: readonly ServerId[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.db
    .deleteFrom("servers")
    .where("id", "=", sql<ServerId>`any(${ids}::integer[])`)
    .execute();
}

/** Notes a beat of a server; false when another server took it for dead and removed its row. */
export async function beat(
  tx: Tx,
  id: ServerId,
  { address, agentAddresses }: Pick<ServerDescription, "address" | "agentAddresses">,
): Promise<boolean> {
  const row = await tx.db
    .updateTable("servers")
    .set({
      beat_at: tx.now,
      beat_count: sql`beat_count + 1`,
      address: address ?? null,
      agent_addresses: [...agentAddresses],
    })
    .where("id", "=", id)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

export type OtherServer = Beat & Pick<ServerDescription, "agentAddresses">;

/** Beats of all servers but this one, and their addresses for agents. */
export async function listOtherBeats(db: Reader, ownId: ServerId): Promise<readonly OtherServer[]> {
  const rows = await db
    .selectFrom("servers")
    .select(["id", "beat_count", "stopped_at", "agent_addresses"])
    .where("id", "<>", ownId)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    beatCount: row.beat_count,
    isStopped: row.stopped_at !== null,
    agentAddresses: row.agent_addresses,
  }));
}

/** Locks a server that was found dead; false when it has beaten since, or another server has removed it. */
export async function lockDeadServer(tx: Tx, { id, beatCount }: Beat): Promise<boolean> {
  const row = await tx.db
    .selectFrom("servers")
    .select("id")
    .where("id", "=", id)
    .where("beat_count", "=", beatCount)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return row !== undefined;
}

/** Notes that a server ends in good order, so that the others need not wait for its silence. */
export async function markStopped(tx: Tx, id: ServerId): Promise<void> {
  await tx.db.updateTable("servers").set({ stopped_at: tx.now }).where("id", "=", id).execute();
}

/** Address of another server; undefined when it is gone or has published none. */
export async function findServerAddress(db: Reader, id: ServerId): Promise<string | undefined> {
  const row = await db.selectFrom("servers").select("address").where("id", "=", id).executeTakeFirst();
  return row?.address ?? undefined;
}
