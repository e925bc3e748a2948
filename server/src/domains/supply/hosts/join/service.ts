import { createHash, createHmac } from "node:crypto";
import { conflict, invalid, notFound, type AppError } from "../../../../base/errors.ts";
import type { AgentCredentialId, JoinTokenId } from "../../../../base/ids.ts";
import type { Caller } from "../../../../base/identity.ts";
import { isUnscopedAdmin } from "../../../../base/access.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { recordAudit, requireAccount, requireRoom } from "../../../people/accounts/index.ts";
import {
  deleteJoinToken,
  findJoinTokenForUpdate,
  countOpenJoinTokens,
  insertJoinToken,
  lockEarlierMachines,
  lockLiveCredentials,
  markTokenUsed,
  rebindMachines,
  revokeCredential,
  revokeEarlierCredentials,
  type Joiner,
  type JoinToken,
} from "./store.ts";
import { MACHINES_MAX } from "../sessions/admission.ts";
import { countLiveJoined } from "./room-store.ts";
import { AGENT_TOKEN_PREFIX, hashToken } from "../service.ts";
import { insertCredential } from "../store.ts";

export type RandomBytes = (byteCount: number) => Buffer;

const JOIN_TOKEN_PREFIX = "berth_join_";
const SECRET_BYTES = 32;
/** Join tokens that one host may have open at a time: as many as the machines that a host may be about to add. */
const OPEN_TOKENS_MAX = 1_000;

/** How long a request that used up a token may be repeated, because its answer was lost on the way. */
const REPEAT_MS = 600_000;

/**
 * Creates a join token of the caller. Machines that join with an administrator's token belong to the operator and count
 * as verified.
 */
export async function createJoinToken(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { name, expiresInSeconds }: { readonly name: string; readonly expiresInSeconds: number },
  random: RandomBytes,
): Promise<{ readonly id: JoinTokenId; readonly token: string; readonly expiresAt: Date }> {
  await requireAccount(tx, identity.userId);
  const count = () => countOpenJoinTokens(tx, identity.userId);
  await requireRoom(tx, identity.userId, { count, max: OPEN_TOKENS_MAX, field: "name", what: "open join tokens" });
  const token = `${JOIN_TOKEN_PREFIX}${random(SECRET_BYTES).toString("base64url")}`;
  const expiresAt = new Date(tx.now.getTime() + expiresInSeconds * 1000);
  const isTrusted = isUnscopedAdmin(identity);
  const id = await insertJoinToken(tx, {
    userId: identity.userId,
    name,
    tokenSha256: hashToken(token),
    isTrusted,
    expiresAt,
  });
  await recordAudit(tx, identity, { ipAddress, action: "api.host_token.create", args: { id, name } });
  return { id, token, expiresAt };
}

/** Deletes a token of the caller. Machines that joined with it stay. */
export async function removeJoinToken(
  tx: Tx,
  { identity, ipAddress }: Caller,
  id: JoinTokenId | undefined,
): Promise<void> {
  if (id === undefined || !(await deleteJoinToken(tx, identity.userId, id))) {
    throw notFound("no_such_join_token", "There is no such join token of yours.");
  }
  await recordAudit(tx, identity, { ipAddress, action: "api.host_token.delete", args: { id } });
}

/** Revokes the credential of a machine that joined: at commit its connection ends, and it can open no other. */
export async function revokeHost(
  tx: Tx,
  { identity, ipAddress }: Caller,
  id: AgentCredentialId | undefined,
): Promise<void> {
  const outcome = id === undefined ? "absent" : await revokeCredential(tx, identity.userId, id);
  if (outcome === "absent") throw notFound("no_such_credential", "There is no such agent credential of yours.");
  if (outcome === "own_agent") {
    const msg = "This is the server's own agent, which has not joined: start the server with --no-agent instead.";
    throw conflict("own_agent", msg);
  }
  if (outcome === "revoked") await recordAudit(tx, identity, { ipAddress, action: "api.host.revoke", args: { id } });
}

export type JoinRequest = Joiner & {
  readonly token: string;
  /** Made by the agent for this join; a repeated request with the same nonce gets the same answer. */
  readonly nonce: string;
  readonly name: string;
  readonly ipAddress: string;
};

/**
 * Exchanges a join token for a credential of this machine and uses up the token. A machine of the same user that joined
 * before and lost its state gets its place and its rentals back. Returns the credential, which is derived from request
 * and secret and not stored, so that a lost answer can be given again.
 */
export async function joinAgent(tx: Tx, secret: Buffer, request: JoinRequest): Promise<string> {
  const { fingerprint, hostKey, name, ipAddress } = request;
  const row = await findJoinTokenForUpdate(tx, hashToken(request.token));
  if (row === undefined) throw refused("This join token is unknown; it may have been deleted.");
  const credential = deriveCredential(secret, request);
  const usedBySha256 = createHash("sha256")
    .update(JSON.stringify([hostKey, fingerprint, request.nonce]))
    .digest();
  if (row.usedAt !== undefined) {
    await requireRepetition(tx, row, usedBySha256);
    return credential;
  }
  if (row.expiresAt <= tx.now) throw refused("This join token has expired. Make another one.");
  const { userId, isTrusted } = row;
  const earlier = await lockEarlierMachines(tx, userId, request);
  if (earlier.some((machine) => machine.isConnected)) {
    const msg = "This machine has joined already and its agent is connected. Stop that agent first.";
    throw conflict("already_joined", msg);
  }
  const tokenSha256 = hashToken(credential);
  const joined = { userId, name: row.name || name, tokenSha256, isTrusted, fingerprint, hostKey };
  const credentialId = await insertCredential(tx, joined);
  const machineIds = earlier.map(({ id }) => id);
  await rebindMachines(tx, machineIds, credentialId);
  await revokeEarlierCredentials(tx, userId, { fingerprint, hostKey, except: credentialId });
  const count = async () => (await countLiveJoined(tx, userId)) - 1; // Machines of the host without the one that joins now.
  const advice = "Revoke the credential of one that is gone.";
  const room = { max: MACHINES_MAX, field: "token", what: "machines that joined", advice };
  await requireRoom(tx, userId, { count, ...room });
  await markTokenUsed(tx, row.id, { usedBySha256, credentialId });
  const args = { join_token_id: row.id, agent_credential_id: credentialId, machine_ids: machineIds };
  await recordAudit(tx, { userId }, { ipAddress, action: "api.agent.join", args });
  return credential;
}

/** A used token is valid for ten minutes, and only for a repetition of the request that used it. */
async function requireRepetition(tx: Tx, row: JoinToken, usedBySha256: Buffer): Promise<void> {
  const { usedAt, credentialId } = row;
  const isSame = row.usedBySha256?.equals(usedBySha256) === true;
  const isRecent = usedAt !== undefined && tx.now.getTime() - usedAt.getTime() <= REPEAT_MS;
  const isLive = credentialId !== undefined && (await lockLiveCredentials(tx, [credentialId])).has(credentialId);
  if (!isSame || !isRecent || !isLive) {
    throw refused("This join token was used already; each lets one machine join. Make another one.");
  }
}

function deriveCredential(secret: Buffer, { token, hostKey, fingerprint, nonce }: JoinRequest): string {
  const bytes = createHmac("sha256", secret)
    .update(`agent credential\n${JSON.stringify([token, hostKey, fingerprint, nonce])}`)
    .digest();
  return `${AGENT_TOKEN_PREFIX}${bytes.toString("base64url")}`;
}

function refused(message: string): AppError {
  return invalid("token", message, "invalid_join_token");
}
