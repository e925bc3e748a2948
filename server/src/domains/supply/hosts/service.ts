import { createHash, randomBytes } from "node:crypto";
import { forbidden, type AppError } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { adoptCredential, insertCredential, replaceCredentialToken, type Registration } from "./store.ts";
import { restoreMachines } from "./terms/terms-store.ts";

export type { Registration };

/**
 * How long an agent may go on without an acknowledgement before it stops what it runs. Long enough that a restart of the
 * server or a short cut of the line disturbs nobody, short enough that a lost host's GPUs are certain to be idle soon.
 * Configurable, since how long lines are cut differs.
 */
export const LEASE_MS = 600_000;
/** Between two heartbeats of a machine, in a market of few machines. */
export const HEARTBEAT_MS = 5_000;
/** So many machines are heard at that pace; of more, each is heard more seldom, so that a server hears about as much. */
const MACHINES_PER_HEARTBEAT_STEP = 2_500;
/** Heartbeats within one lease: a few may be lost. */
const HEARTBEATS_PER_LEASE = 4;
/** What an agent may take beyond its lease until the last process is gone: its tick, the grace of a stop, a slow engine. */
const LEASE_MARGIN_MS = 15_000;
const TOUCH_MS_MAX = 60_000;

/** How long what was stored of a lease covers: a heartbeat without news within it is acknowledged and not stored. */
export function touchEveryMs(leaseMs: number): number {
  return Math.min(TOUCH_MS_MAX, leaseMs / 10);
}

/**
 * When a machine that was heard of now has certainly stopped everything, unless it is stored that it was heard again. It
 * may have been acknowledged for a while longer without that.
 */
export function leaseEnd(now: Date, leaseMs: number): Date {
  return new Date(now.getTime() + touchEveryMs(leaseMs) + leaseMs + LEASE_MARGIN_MS);
}

/** How often each of so many connected machines is to be heard. */
export function heartbeatMs(connectedCount: number, leaseMs: number): number {
  const steps = Math.max(1, Math.ceil(connectedCount / MACHINES_PER_HEARTBEAT_STEP));
  return Math.max(HEARTBEAT_MS, Math.min(HEARTBEAT_MS * steps, leaseMs / HEARTBEATS_PER_LEASE));
}

export const AGENT_TOKEN_PREFIX = "berth_agent_";

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** Issues a token for the named credential of a user, making the credential when it is new. Older tokens die. */
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
    /** The data directory of the server that starts the agent: each has a credential of its own. */
    readonly dataDirKey?: string;
    /** The data directory is from before each had a credential of its own: the one without a directory is its. */
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
