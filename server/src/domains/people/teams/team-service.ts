import { AppError, conflict, forbidden, invalid, notFound } from "../../../base/errors.ts";
import type { Caller, Identity } from "../../../base/identity.ts";
import type { ApiKeyId, UserId } from "../../../base/ids.ts";
import { formatDollars, parseDollars, type Nanos } from "../../../base/money.ts";
import { isUniqueViolation } from "../../../db/sql-state.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import {
  closeTeamAccount,
  findMember,
  isWithin,
  listMemberships,
  listRoles,
  lockBelongings,
  notForTeams,
  openTeamAccount,
  setMemberRole,
  updateUser,
} from "../accounts/for-teams.ts";
import { findUserByEmailOrId, lockUser, recordAudit, type Identities, type RandomBytes } from "../accounts/index.ts";
import { balanceOf, lockCredit } from "../../money/ledger/index.ts";
import { postNotifications, type QueueMail } from "../../notifications/index.ts";
import { lockOwnTeam, parseName, requireOwner } from "./authority.ts";
import { deleteInvitations } from "./invitation-store.ts";
import { insertTeam, markTeamDeleted, renameTeam } from "./team-store.ts";

/** Teams that one person may own. */
const OWNED_MAX = 100;
const CENT = 10_000_000n;

/** Moves credit between accounts; billing's, passed in by `app.ts`. */
export type MoveCredit = (
  tx: Tx,
  transfer: {
    readonly from: UserId;
    readonly to: UserId;
    readonly amount: Nanos;
    /** The caller who asked for it; undefined for a loop. */
    readonly caller: Caller | undefined;
    /**
     * True for the credit of a deleted team: all of it goes back to its owner, also credit that may otherwise not be
     * transferred.
     */
    readonly isReturn?: boolean;
  },
) => Promise<void>;

/**
 * Objects that an account still has besides credit, in words such as `2 instances`; from other domains, passed in by
 * `app.ts`.
 */
export type ListBelongings = (db: Reader, now: Date, userId: UserId) => Promise<readonly string[]>;

export type RefuseNewKeys = (tx: Tx, identity: Identity, teamId: number | undefined) => Promise<void>;

/** Freezes a team all of whose remaining members are frozen; from freezes, passed in by `app.ts`. */
export type FreezeAbandoned = (tx: Tx, teamId: UserId) => Promise<void>;

export type TeamMeans = {
  readonly identities: Identities;
  readonly random: RandomBytes;
  /** Queues a mail; undefined where no mail server is set up. */
  readonly queueMail: QueueMail | undefined;
  readonly moveCredit: MoveCredit;
  readonly listBelongings: ListBelongings;
  /** Refuses another key to a caller whose key has a cap: the new key would not have it. */
  readonly refuseNewKeys: RefuseNewKeys;
  readonly freezeAbandoned: FreezeAbandoned;
};

export type NewTeam = {
  readonly id: UserId;
  readonly name: string;
  /** The key by which the owner acts as the team. */
  readonly keyId: ApiKeyId;
  readonly secret: string;
};

/**
 * Creates a team that the caller owns, with credit of the caller's if the request names some, and a key of the team. The
 * calling key stays personal.
 */
export async function createTeam(
  tx: Tx,
  caller: Caller,
  asked: { readonly name: string | undefined; readonly transferCredit: number | undefined },
  { random, moveCredit, refuseNewKeys }: TeamMeans,
): Promise<NewTeam> {
  const { identity, ipAddress } = caller;
  if (identity.memberId !== undefined) throw notForTeams("A team cannot own a team. Use a key of your own.");
  await refuseNewKeys(tx, identity, undefined);
  const name = parseName(asked.name, "team_name");
  const credit = parseCredit(identity, asked.transferCredit);
  await requireRoomForTeam(tx, identity.userId, "A person owns");
  const { teamId, keyId, secret } = await openTeamAccount(tx, identity, { name, random });
  await insertTeam(tx, { id: teamId, name, foundingKeyId: identity.apiKeyId }).catch(nameTaken);
  if (credit > 0n) await moveCredit(tx, { from: identity.userId, to: teamId, amount: credit, caller });
  const audited = { ipAddress, action: "api.team.create", args: { team_id: teamId, team_name: name, key_id: keyId } };
  await recordAudit(tx, identity, audited);
  await recordAudit(tx, { userId: teamId, apiKeyId: keyId, memberId: identity.userId }, audited);
  return { id: teamId, name, keyId, secret };
}

/** Counted under the person's lock, so that concurrent requests cannot pass the limit together. */
async function requireRoomForTeam(tx: Tx, personId: UserId, whoOwns: string): Promise<void> {
  await lockUser(tx, personId);
  const owned = (await listMemberships(tx.db, personId)).filter(({ role }) => role.identifier === "owner");
  if (owned.length < OWNED_MAX) return;
  throw new AppError("invalid", "too_many_teams", `${whoOwns} at most ${OWNED_MAX} teams.`);
}

/** The initial credit. It is a credit transfer like any other, and the calling key must be allowed to make it. */
function parseCredit(identity: Identity, dollars: number | undefined): Nanos {
  const amount = parseDollars(dollars ?? 0);
  if (amount === undefined || amount < 0n || (amount > 0n && amount < CENT)) {
    throw invalid("transfer_credit", "transfer_credit must be nothing, or at least 0.01 dollars");
  }
  const constraints = { amount: { eq: dollars ?? 0 } };
  const needed = { api: { billing_write: { "api.billing.transfer_credit": { constraints } } } };
  if (amount === 0n || isWithin(needed, identity.permissions)) return amount;
  throw forbidden("This key may not transfer credit.", "missing_permissions");
}

export async function changeTeamName(tx: Tx, { identity, ipAddress }: Caller, text: string | undefined) {
  const { team } = await lockOwnTeam(tx, identity);
  const name = parseName(text, "team_name");
  await renameTeam(tx, team.id, name).catch(nameTaken);
  await updateUser(tx, team.id, { username: name });
  const args = { team_name: name, former_name: team.name };
  await recordAudit(tx, identity, { ipAddress, action: "api.team.update", args });
  return { id: team.id, name };
}

/** Makes another member the owner; the previous owner becomes a manager. */
export async function transferOwnership(
  tx: Tx,
  { identity, ipAddress }: Caller,
  recipient: string,
  identities: Identities,
): Promise<{ readonly teamName: string; readonly username: string }> {
  const acting = await lockOwnTeam(tx, identity);
  await requireOwner(tx, acting, "Only the Team's Owner may hand it over");
  const { team, memberId } = acting;
  const user = await findUserByEmailOrId(tx.db, recipient);
  const member = user === undefined ? undefined : await findMember(tx.db, team.id, user.id);
  if (member === undefined) throw notFound("no_such_member", `The team has no member ${recipient}.`);
  if (member.id === memberId) throw new AppError("invalid", "invalid_args", "You own the team already.");
  await requireRoomForTeam(tx, member.id, `The member ${recipient} cannot own this team: a person owns`);
  const roles = await listRoles(tx.db, team.id);
  for (const [identifier, personId] of [
    ["manager", memberId],
    ["owner", member.id],
  ] as const) {
    const role = roles.find((one) => one.identifier === identifier);
    if (role !== undefined) await setMemberRole(tx, { teamId: team.id, memberId: personId, roleId: role.id });
  }
  await recordAudit(tx, identity, { ipAddress, action: "api.team.transfer", args: { owner_id: member.id } });
  await postNotifications(tx, [
    {
      userId: member.id,
      kind: "client:team_ownership",
      subject: `You own the team ${team.name}`,
      message: `The team ${team.name} was handed over to you. Its former owner is a manager of it now.`,
      key: `team_ownership:${team.id}:${tx.now.getTime()}`,
    },
  ]);
  tx.afterCommit(() => identities.forgetUser(team.id));
  return { teamName: team.name, username: member.username };
}

/**
 * Deletes a team that has nothing left but credit, which goes to its owner. The lock comes first, to keep out rentals:
 * earlier ones are seen here, and later ones find no account (keepAccounts).
 */
export async function deleteTeam(
  tx: Tx,
  caller: Caller,
  { identities, moveCredit, listBelongings }: TeamMeans,
): Promise<{ readonly personalKeyId: ApiKeyId | undefined }> {
  const { identity, ipAddress } = caller;
  const acting = await lockOwnTeam(tx, identity);
  await requireOwner(tx, acting, "Only the Team's Owner may delete the team");
  const { team, memberId: ownerId } = acting;
  await lockBelongings(tx, team.id);
  await lockCredit(tx, team.id);
  const { available, held } = await balanceOf(tx.db, team.id);
  const left = [
    ...(await listBelongings(tx.db, tx.now, team.id)),
    ...(held > 0n ? ["charges that are being settled"] : []),
    ...(available < 0n ? [`a debt of $${formatDollars(-available)}`] : []),
  ];
  if (left.length > 0) {
    throw conflict("team_not_empty", `The team still has ${left.join(", ")}. Remove that first.`, {
      extra: { left },
    });
  }
  if (available > 0n) await moveCredit(tx, { from: team.id, to: ownerId, amount: available, caller, isReturn: true });
  const args = { team_id: team.id, team_name: team.name };
  await recordAudit(tx, identity, { ipAddress, action: "api.team.delete", args });
  await recordAudit(tx, { userId: ownerId }, { ipAddress, action: "api.team.delete", args });
  await deleteInvitations(tx, team.id);
  await markTeamDeleted(tx, team.id, ownerId);
  const account = { teamId: team.id, ownerId, foundingKeyId: team.foundingKeyId };
  const { personalKeyId, changedKeyIds } = await closeTeamAccount(tx, account);
  tx.afterCommit(() => {
    for (const keyId of changedKeyIds) identities.forget(keyId);
  });
  return { personalKeyId };
}

function nameTaken(error: unknown): never {
  throw isUniqueViolation(error, "teams_name") ? nameExists(error) : error;
}

function nameExists(cause: unknown): AppError {
  return invalid("team_name", "Team name already exists", "team_name_exists", { cause });
}
