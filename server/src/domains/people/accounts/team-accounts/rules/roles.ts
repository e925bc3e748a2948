import { PERMISSION_CATEGORIES, type Grant, type PermissionDocument } from "../../../../../base/identity.ts";
import type { Permissions } from "../../keys/rules/permissions.ts";

/** The roles that every team has; they can be neither changed nor deleted. */
export const DEFAULT_ROLES = ["owner", "manager", "member"] as const;
export type DefaultRole = (typeof DEFAULT_ROLES)[number];

/** All categories written out, for answers that show a role's permissions. */
export const EVERYTHING: PermissionDocument = {
  api: Object.fromEntries(PERMISSION_CATEGORIES.map((category) => [category, {}])),
};

const whole = (operations: readonly string[]): Readonly<Record<string, Grant>> =>
  Object.fromEntries(operations.map((operation) => [operation, {}]));

/**
 * Permissions of the default roles. Only the owner deletes or hands over the team; no permission grants that. A member
 * rents, and has keys and templates to rent with, but no billing, members, endpoints or machines.
 */
const DEFAULT_PERMISSIONS: Readonly<Record<DefaultRole, Permissions>> = {
  owner: undefined,
  manager: EVERYTHING,
  member: {
    api: {
      instance_read: {},
      instance_write: {},
      user_read: {},
      user_write: whole([
        "api.apikey.create",
        "api.apikey.delete",
        "api.apikey.reset",
        "api.ssh_key.create",
        "api.ssh_key.update",
        "api.ssh_key.delete",
        "api.secret.create",
        "api.secret.update",
        "api.secret.delete",
        "api.template.create",
        "api.template.edit",
        "api.template.delete",
      ]),
      misc: whole(["api.offer.search_asks", "api.volume.search", "api.network_volume.search"]),
    },
  },
};

const IDENTIFIER_LENGTH_MAX = 64;

export function isDefaultRole(identifier: string): identifier is DefaultRole {
  return DEFAULT_ROLES.some((known) => known === identifier);
}

/** Permissions of a role; `stored` is its document, which default roles do not have. */
export function permissionsOfRole(identifier: string, stored: PermissionDocument | null): Permissions {
  if (stored !== null) return stored;
  // An unknown role without a document allows nothing.
  return isDefaultRole(identifier) ? DEFAULT_PERMISSIONS[identifier] : { api: {} };
}

/**
 * A name for programs, derived from a role's name and different from all in `taken`. It stays when the role is renamed.
 */
export function identifierOf(name: string, taken: ReadonlySet<string>): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ["role"];
  const plain = words.join("_").slice(0, IDENTIFIER_LENGTH_MAX);
  if (!taken.has(plain)) return plain;
  let count = 2;
  while (taken.has(`${plain}_${count}`)) count += 1;
  return `${plain}_${count}`;
}
