import { AppError, invalid } from "../../../../base/errors.ts";
import { castValue } from "../../../../base/filters/cast-value.ts";
import { parseDollars } from "../../../../base/money.ts";
import type { CreateUserBody, UpdateUserBody } from "../schema.ts";
import { parseSshPublicKey, type SshPublicKey } from "../ssh-keys/rules/ssh-public-key.ts";
import type { UserChanges } from "./store.ts";
import { CLAIM_EMAIL_DOMAIN, TEAM_EMAIL_DOMAIN } from "./rules/user.ts";

const EMAIL_LENGTH_MAX = 64;
export const USERNAME_LENGTH_MAX = 64;
const PASSWORD_LENGTH_MAX = 256;
const SSH_KEY_LENGTH_MAX = 4096;
const OWN_DOMAINS = [TEAM_EMAIL_DOMAIN, CLAIM_EMAIL_DOMAIN];

/** The published pattern: printable ASCII, a dot in the domain. */
const EMAIL = /^[a-z0-9._%+-]+@[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}$/;
/** Control characters and lone surrogates: no name and no address line needs them. */
export const UNFIT = /[\p{Cc}\p{Cs}]/u;

/** Lengths of the text fields that a user may set, by the names of the contract. */
const TEXT_FIELDS = {
  username: USERNAME_LENGTH_MAX,
  fullname: 256,
  ssh_key: SSH_KEY_LENGTH_MAX,
  billaddress_line1: 256,
  billaddress_line2: 256,
  billaddress_city: 256,
  billaddress_zip: 64,
  billaddress_country: 64,
  taxinfo: 256,
} as const;

/** Fields that a user may set; the address is decided separately, since it may be another account's. */
export type ProfileChanges = UserChanges & { readonly email?: string };

export type NewProfile = {
  readonly email: string;
  readonly username: string;
  readonly password: string;
  readonly isHostOnly: boolean;
  readonly sshKey: SshPublicKey | undefined;
};

/** The address in lower case, or `invalid_email`. */
export function parseEmail(text: string | undefined, field = "email"): string {
  const email = text?.trim().toLowerCase() ?? "";
  const isOwn = OWN_DOMAINS.some((domain) => email.endsWith(`@${domain}`));
  if (email.length > EMAIL_LENGTH_MAX || !EMAIL.test(email) || isOwn) {
    throw invalid(
      field,
      `${field} must be an e-mail address of at most ${EMAIL_LENGTH_MAX} characters`,
      "invalid_email",
    );
  }
  return email;
}

/** Checks the profile of a new account; throws the code of the field that is wrong. */
export function parseNewProfile(body: CreateUserBody): NewProfile {
  const email = parseEmail(body.email);
  const username = body.username?.trim() ?? "";
  if (username === "" || username.length > USERNAME_LENGTH_MAX || UNFIT.test(username)) {
    throw invalid("username", `username must have 1 to ${USERNAME_LENGTH_MAX} characters`, "invalid_request");
  }
  const password = body.password ?? "";
  if (password === "") throw invalid("password", "password is required", "missing_auth_value");
  if (password.length > PASSWORD_LENGTH_MAX) {
    throw invalid("password", `password may have at most ${PASSWORD_LENGTH_MAX} characters`, "invalid_request");
  }
  const sshKey = body.ssh_key?.trim() ?? "";
  if (sshKey.length > SSH_KEY_LENGTH_MAX) {
    throw invalid("ssh_key", `ssh_key may have at most ${SSH_KEY_LENGTH_MAX} characters`, "invalid_request");
  }
  return { email, username, password, isHostOnly: body.host_only ?? false, sshKey: readSshKey(sshKey) };
}

/**
 * Picks the settable fields from a request and ignores all others, so that no field of the record becomes writable by
 * being sent. Throws `missing_input` when the request has none of them.
 */
export function parseUserChanges(body: UpdateUserBody): ProfileChanges {
  const texts: Partial<Record<keyof typeof TEXT_FIELDS, string>> = {};
  for (const [name, lengthMax] of Object.entries(TEXT_FIELDS)) {
    const field = name as keyof typeof TEXT_FIELDS; // Object.entries loses the names of a constant's keys.
    const text = sentText(body, field)?.trim();
    if (text === undefined) continue;
    if (text.length > lengthMax)
      throw invalid(field, `${field} has more than ${lengthMax} characters`, "input_too_long");
    if (UNFIT.test(text))
      throw invalid(field, `${field} has characters that do not belong there`, "invalid_characters");
    texts[field] = field === "ssh_key" ? (readSshKey(text)?.line ?? "") : text;
  }
  if (texts.username === "") throw invalid("username", "username may not be empty", "empty_input");
  const changes: ProfileChanges = {
    ...texts,
    ...(body.normalized_email === undefined ? {} : { email: parseEmail(body.normalized_email, "normalized_email") }),
    ...(body.balance_threshold === undefined
      ? {}
      : { balance_threshold_nanos: parseThreshold(body.balance_threshold) }),
    ...(body.balance_threshold_enabled === undefined
      ? {}
      : { balance_threshold_enabled: parseSwitch(body.balance_threshold_enabled) }),
    ...(body.traffic_limit === undefined ? {} : { traffic_limit_nanos: parseTrafficLimit(body.traffic_limit) }),
  };
  if (Object.keys(changes).length > 0) return changes;
  throw new AppError("invalid", "missing_input", "The request names no field of the account that can be set.");
}

/** The parsed key; undefined when the account is to have none. */
function readSshKey(text: string): SshPublicKey | undefined {
  return text === "" ? undefined : parseSshPublicKey(text);
}

/** Clients that edit an account from a file use their own name for the tax number. */
function sentText(body: UpdateUserBody, field: keyof typeof TEXT_FIELDS): string | undefined {
  return body[field] ?? (field === "taxinfo" ? body.billaddress_taxinfo : undefined);
}

function parseSwitch(value: boolean | string): boolean {
  const isOn = castValue(value, "boolean", "strict");
  if (typeof isOn === "boolean") return isOn;
  throw invalid("balance_threshold_enabled", "balance_threshold_enabled must be true or false");
}

function parseThreshold(dollars: number | string): bigint {
  const amount = parseDollars(dollars);
  if (amount !== undefined && amount >= 0n) return amount;
  throw invalid("balance_threshold", "balance_threshold must be an amount of dollars that is not negative");
}

const TRAFFIC_LIMIT_MAX = 1_000_000_000_000_000n;

/** Null lets the budget decide for new instances. */
function parseTrafficLimit(dollars: number | null): bigint | null {
  if (dollars === null) return null;
  const limit = parseDollars(dollars);
  if (limit !== undefined && limit >= 0n && limit <= TRAFFIC_LIMIT_MAX) return limit;
  throw invalid("traffic_limit", "traffic_limit must be from 0 to 1000000 dollars, or null");
}
