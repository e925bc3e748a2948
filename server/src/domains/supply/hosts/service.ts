import { createHash, randomBytes } from "node:crypto";
import { forbidden, type AppError } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { adoptCredential, insertCredential, replaceCredentialToken, type Registration } from "./store.ts";
import { restoreMachines } from "./terms/terms-store.ts";

export type { Registration };

/**
 * Heartbeat lease: how long an agent may go on without an acknowledgement before it stops its containers. Long enough
 * that a restart of the server or a short network failure stops no rental, short enough that the GPUs of a lost host
 * are soon certain to be idle. Configurable, since the length of network failures differs between installations.
 */
export const LEASE_MS = 600_000;
/** Time between two heartbeats of a machine while few machines are connected. */
export const HEARTBEAT_MS = 5_000;
/**
 * Number of machines up to which each keeps the normal heartbeat; with more, each sends fewer heartbeats, so that the
 * load of the server stays about the same.
 */
const MACHINES_PER_HEARTBEAT_STEP = 2_500;
/** Heartbeats within one heartbeat lease: a few may be lost. */
const HEARTBEATS_PER_LEASE = 4;
/**
 * Time that an agent may take beyond its heartbeat lease until its last process is gone: its tick, the grace of a stop,
 * a slow container engine.
 */
const LEASE_MARGIN_MS = 15_000;
const TOUCH_MS_MAX = 60_000;

/**
 * How long a stored heartbeat covers: the server acknowledges later heartbeats without news but does not store them.
 */
export function touchEveryMs(leaseMs: number): number {
  return Math.min(TOUCH_MS_MAX, leaseMs / 10);
}

/**
 * The time at which a machine that was heard now has certainly stopped everything, unless a later heartbeat is stored.
 * The agent may have been acknowledged a while longer without a stored heartbeat; the end includes that time.
 */
export function leaseEnd(now: Date, leaseMs: number): Date {
  return new Date(now.getTime() + touchEveryMs(leaseMs) + leaseMs + LEASE_MARGIN_MS);
}

/** Heartbeat interval for this number of connected machines. */
export function heartbeatMs(connectedCount: number, leaseMs: number): number {
  const steps = Math.max(1, Math.ceil(connectedCount / MACHINES_PER_HEARTBEAT_STEP));
  return Math.max(HEARTBEAT_MS, Math.min(HEARTBEAT_MS * steps, leaseMs / HEARTBEATS_PER_LEASE));
}

/** Time between two measurements of a machine while few machines are connected. */
const MEASURE_MS = 10_000;

/** The intervals that a server asks its machines for; with more machines each of them speaks less often. */
export function intervalsFor(connectedCount: () => number) {
  return {
    heartbeatMs: (leaseMs: number) => heartbeatMs(connectedCount(), leaseMs),
    measureMs: () => MEASURE_MS * Math.max(1, Math.ceil(connectedCount() / MACHINES_PER_HEARTBEAT_STEP)),
  };
}

export const AGENT_TOKEN_PREFIX = "berth_agent_";

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/**
 * Issues a token for the named credential of a user and creates the credential when there is none. Older tokens stop
 * working.
 */
export async function issueAgentToken(
  tx: Tx,
  {
    userId,
    name,
    isTrusted,
    dataDirKey,
    isDataDirOld = false,
  }: {
    readonly userId: UserId;
    readonly name: string;
    readonly isTrusted: boolean;
    /** The data directory of the server that starts the agent: each directory has a credential of its own. */
    readonly dataDirKey?: string;
    /**
     * True for a data directory that is older than credentials per directory: it takes over the credential without a
     * directory.
     */
    readonly isDataDirOld?: boolean;
  },
): Promise<string> {
  const token = `${AGENT_TOKEN_PREFIX}${randomBytes(32).toString("base64url")}`;
  const tokenSha256 = hashToken(token);
  if (dataDirKey !== undefined && isDataDirOld) await adoptCredential(tx, { userId, name, dataDirKey });
  const replaced = await replaceCredentialToken(tx, { userId, name, dataDirKey, tokenSha256 });
  if (replaced === undefined) await insertCredential(tx, { userId, name, dataDirKey, tokenSha256, isTrusted });
  else await restoreMachines(tx, replaced);
  return token;
}

export function deleted(): AppError {
  return forbidden("This machine was deleted by its host. It may join again with a new token.", "machine_deleted");
}
