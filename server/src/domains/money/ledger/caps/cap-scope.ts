import { parseId, type Id } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { CAP_PERIODS, CAP_SCOPE_KINDS, type CapPeriod, type CapScope, type CapScopeKind } from "../types.ts";

/** Reads a scope from a database column. */
export function parseCapScope(text: string): CapScope {
  return `${kindOfScope(text)}:${idOfScope(text)}`;
}

export function kindOfScope(scope: string): CapScopeKind {
  const [name] = scope.split(":");
  const kind = CAP_SCOPE_KINDS.find((one) => one === name);
  invariant(kind !== undefined, `${scope} is no scope of a cap`);
  return kind;
}

export function idOfScope(scope: string): number {
  const id = parseId<Id<string>>(scope.slice(scope.indexOf(":") + 1));
  invariant(id !== undefined, `${scope} is no scope of a cap`);
  return id;
}

/** Words for a scope inside a sentence: `this account`, `API key 7`. */
export function describeScope(scope: CapScope): string {
  const id = idOfScope(scope);
  switch (kindOfScope(scope)) {
    case "account":
      return "this account";
    case "key":
      return `API key ${id}`;
    case "endpoint":
      return `endpoint group ${id}`;
    case "instance":
      return `instance ${id}`;
  }
}

/** Reads a period from a database column. */
export function parseCapPeriod(text: string): CapPeriod {
  const period = CAP_PERIODS.find((one) => one === text);
  invariant(period !== undefined, `${text} is no period of a cap`);
  return period;
}

/** The end of the period that contains `now`; undefined for `total`, which never ends. */
export function resetAt(period: CapPeriod, now: Date): Date | undefined {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  switch (period) {
    case "day":
      return new Date(Date.UTC(year, month, day + 1));
    case "month":
      return new Date(Date.UTC(year, month + 1, 1));
    case "total":
      return undefined;
  }
}

/** The start of the period that contains `now`. */
export function startOf(period: CapPeriod, now: Date): Date {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  switch (period) {
    case "day":
      return new Date(Date.UTC(year, month, day));
    case "month":
      return new Date(Date.UTC(year, month, 1));
    case "total":
      return new Date(0);
  }
}
