import { conflict, forbidden, invalid, type AppError } from "../../../../../base/errors.ts";
import type { Identity } from "../../../../../base/identity.ts";
import type { UserId } from "../../../../../base/ids.ts";
import type { Recipient } from "../../../../people/accounts/for-invoices.ts";

/** The role of a person in a team, by its identifier; undefined when they are no member. */
export type RoleIn = (teamId: UserId, personId: UserId) => Promise<string | undefined>;

/** The refusal of a credit transfer; undefined when it is allowed. `text` is the recipient as the sender typed it. */
export type RefuseTransfer = (identity: Identity, recipient: Recipient, text: string) => Promise<AppError | undefined>;

/**
 * Rules for teams: credit enters a team from its members, and leaves it only by its owner, to a member or to another
 * team of the owner. Transfers between two persons have no such rules.
 */
export function transferRules(roleIn: RoleIn): RefuseTransfer {
  return async ({ userId, memberId }, recipient, text) => {
    if (memberId === undefined && !recipient.isTeam) return undefined;
    if (memberId === undefined) {
      const isKnown = (await roleIn(recipient.id, userId)) !== undefined;
      return isKnown ? undefined : noSuchRecipient(text);
    }
    const [own, other] = await Promise.all([
      roleIn(userId, memberId),
      recipient.isTeam ? roleIn(recipient.id, memberId) : roleIn(userId, recipient.id),
    ]);
    if (own !== "owner") return forbidden("Only the owner of a team transfers its credit.", "not_allowed");
    if (other !== undefined) return undefined;
    if (recipient.isTeam) return noSuchRecipient(text);
    return invalidRecipient("Credit of a team goes to its owner, or to a member of it.");
  };
}

/**
 * The recipient that the sender means. An unproven address names nobody, since anyone may claim it; such an account can
 * receive credit by its id, which the refusal states.
 */
export function chooseRecipient(found: readonly Recipient[], text: string): Recipient {
  const [first] = found;
  if (first === undefined) throw noSuchRecipient(text);
  if (first.isProven || !text.includes("@")) return first;
  const ids = found.map(({ id }) => id);
  const claimants = ids.length === 1 ? `Account ${ids[0]} claims` : `Accounts ${ids.join(", ")} claim`;
  const message = `${claimants} ${text.trim()}: not proven. Transfer to the id if you know whose account it is.`;
  const recipients = ids.map((id) => ({ id, email_verified: false }));
  throw conflict("recipient_not_proven", message, { extra: { field: "recipient", recipients } });
}

export function noSuchRecipient(text: string): AppError {
  return invalidRecipient(`There is no user ${text}.`);
}

export function invalidRecipient(message: string): AppError {
  return invalid("recipient", message, "invalid_recipient");
}
