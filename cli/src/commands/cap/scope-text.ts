import { InvalidArgumentError } from "commander";

const KINDS = ["account", "key", "endpoint", "instance"] as const;
type Kind = (typeof KINDS)[number];

/** The scope of a cap in words; without an id it is the caller's account. */
export type Scope = { readonly kind: Kind; readonly id: number | undefined };

/** Reads `account`, `key:7`, `endpoint:3` or `instance:12`. */
export function parseScope(text: string): Scope {
  const [, name, digits] = /^([a-z]+)(?::([1-9]\d{0,9}))?$/.exec(text) ?? [];
  const kind = KINDS.find((one) => one === name);
  if (kind === undefined || (kind !== "account" && digits === undefined)) {
    throw new InvalidArgumentError("It must be account, key:ID, endpoint:ID or instance:ID.");
  }
  return { kind, id: digits === undefined ? undefined : Number(digits) };
}
