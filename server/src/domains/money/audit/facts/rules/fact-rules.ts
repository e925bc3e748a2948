// Compares a fact with the row that it is about.
import { canonical } from "../../../../../base/facts.ts";
import { formatDollars, nanos } from "../../../../../base/money.ts";
import type { StatedTransfer } from "../../../ledger/for-audit.ts";
import type { Difference } from "../../rules/difference.ts";

/** A fact as it was written. */
export type ReadFact = Readonly<Record<string, unknown>> & {
  readonly kind: string;
  readonly subject: string;
  readonly at: string;
};

export function readFact(text: string): ReadFact | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null ? (read as ReadFact) : undefined;
  } catch {
    return undefined;
  }
}

/** `by user 1 with key 3, request ab-1, at 2026-03-01T12:00:00.000Z`. */
export function whoAndWhen({ by, request, at }: ReadFact): string {
  const who =
    typeof by === "object" && by !== null
      ? [
          partOf(by, "user", "user"),
          partOf(by, "key", "with key"),
          partOf(by, "member", "for the team by user"),
          partOf(by, "ip", "from"),
        ]
          .filter((part) => part !== "")
          .join(" ")
      : String(by);
  const asked = request === null || request === undefined ? "" : `, request ${textOf(request)}`;
  return `by ${who}${asked}, at ${at}`;
}

function partOf(by: object, name: string, word: string): string {
  const value: unknown = Reflect.get(by, name);
  return value === undefined ? "" : `${word} ${textOf(value)}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : canonical(value ?? null);
}

export function dollarsText(amountNanos: unknown): string {
  return `$${formatDollars(nanos(BigInt(String(amountNanos))))}`;
}

/** A transfer in words: `credit_granted of $500 from issuance to credit of user 7`. */
export function transferText(one: {
  readonly code: unknown;
  readonly amount: unknown;
  readonly from: unknown;
  readonly to: unknown;
}): string {
  return `${textOf(one.code)} of ${dollarsText(one.amount)} from ${textOf(one.from)} to ${textOf(one.to)}`;
}

/** The difference between a row and its fact, with all differing fields; undefined when both agree. */
export function differenceOf(
  subject: string,
  fact: ReadFact,
  says: Readonly<Record<string, unknown>>,
): Difference | undefined {
  const differing = Object.keys(says).filter((name) => canonical(says[name] ?? null) !== canonical(fact[name] ?? null));
  if (differing.length === 0) return undefined;
  const listed = (values: Readonly<Record<string, unknown>>) =>
    differing.map((name) => `${name} ${valueText(name, values[name])}`).join(", ");
  return {
    subject,
    problem: `it is not what was done ${whoAndWhen(fact)}`,
    stored: listed(says),
    expected: listed(fact),
  };
}

/** A value in words; amounts in dollars. */
export function valueText(name: string, value: unknown): string {
  return (name === "amount" || name === "limit" || name === "returned") && value !== undefined && value !== null
    ? dollarsText(value)
    : textOf(value ?? null);
}

/** The fields of a transfer as its fact states them. */
export function saysOf({ key, code, from, to, amountNanos, cause, description, createdAt }: StatedTransfer) {
  return { key, code, from, to, amount: String(amountNanos), cause, why: description, at: createdAt.toISOString() };
}
