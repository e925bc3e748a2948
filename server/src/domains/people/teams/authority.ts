import { forbidden, invalid, notFound, type AppError } from "../../../base/errors.ts";
import type { Identity } from "../../../base/identity.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { findRoleIdentifier } from "../accounts/index.ts";
import { isWithin, UNFIT, type Permissions } from "../accounts/for-teams.ts";
import { findTeam, lockTeam, type Team } from "./team-store.ts";

const NAME_LENGTH_MAX = 64;

/** The team of the request's key. */
export type Acting = {
  readonly team: Team;
  /** The member who holds the key. */
  readonly memberId: UserId;
};

/** The team of the calling key, locked until the commit. `not_found` for a person's own key. */
export async function lockOwnTeam(tx: Tx, { userId, memberId }: Identity): Promise<Acting> {
  const team = memberId === undefined ? undefined : await lockTeam(tx, userId);
  if (team === undefined || memberId === undefined) throw notATeam();
  return { team, memberId };
}

/** The team of the calling key, unlocked, for reading. */
export async function requireOwnTeam(db: Reader, { userId, memberId }: Identity): Promise<Acting> {
  const team = memberId === undefined ? undefined : await findTeam(db, userId);
  if (team === undefined || memberId === undefined) throw notATeam();
  return { team, memberId };
}

/** Throws for everybody but the owner, for any role and any key. */
export async function requireOwner(tx: Tx, { team, memberId }: Acting, message: string): Promise<void> {
  if ((await findRoleIdentifier(tx.db, team.id, memberId)) !== "owner") throw forbidden(message, "not_allowed");
}

/**
 * Throws when the permissions go beyond those of the calling key: nobody can give, change or take away a permission
 * that the calling key does not have.
 */
export function requireWithin(identity: Identity, permissions: Permissions, what: string): void {
  if (isWithin(permissions, identity.permissions)) return;
  throw forbidden(`${what} has permissions that your key does not have.`, "missing_permissions");
}

/** A name of a team or a role for people to read. */
export function parseName(text: string | undefined, field: string): string {
  const name = text?.normalize("NFC").trim() ?? "";
  if (name === "") throw invalid(field, `${field} is required`);
  if (name.length > NAME_LENGTH_MAX) {
    throw invalid(field, `${field} may have at most ${NAME_LENGTH_MAX} characters`, "input_too_long");
  }
  if (UNFIT.test(name)) {
    throw invalid(field, `${field} has characters that do not belong there`, "invalid_characters");
  }
  return name;
}

function notATeam(): AppError {
  return notFound("not_found", "This is a personal key. Use a key of the team.");
}
