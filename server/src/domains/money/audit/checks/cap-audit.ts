import type { Reader } from "../../../../db/transaction.ts";
import { limitAfter, listCapChanges, listCapLimits, type CapLimit } from "../../ledger/for-audit.ts";
import { reportOf } from "./contract-audit.ts";
import { compare, instant, type Tally } from "../rules/difference.ts";

type Named = { readonly userId: number; readonly scope: string; readonly period: string };

/** Compares the limit of each cap, and the moment from which it holds, with the changes that its owner made. */
export async function auditCapLimits(db: Reader, tally: Tally): Promise<void> {
  const expected = new Map<string, { readonly name: Named; readonly limit: CapLimit | undefined }>();
  for (const change of await listCapChanges(db)) {
    const known = expected.get(nameOf(change))?.limit;
    expected.set(nameOf(change), { name: change, limit: limitAfter(known, change) });
  }
  for (const cap of await listCapLimits(db)) {
    const report = reportOf(tally, `cap ${cap.id}`);
    const limit = expected.get(nameOf(cap))?.limit;
    expected.delete(nameOf(cap));
    if (limit === undefined) {
      report("caps", { problem: "nobody set it, or it was removed", stored: nameOf(cap), expected: "no cap" });
      continue;
    }
    const same = (problem: string, stored: string | bigint, wanted: string | bigint) =>
      compare(report, "caps", problem, { stored, expected: wanted });
    same("its limit is not the one that its owner set", cap.limitNanos, limit.limitNanos);
    same("it holds from another moment on", instant(cap.holdsFromAt), instant(limit.holdsFromAt));
    same("another limit held before", cap.beforeNanos ?? "none", limit.beforeNanos ?? "none");
  }
  for (const { name, limit } of expected.values()) {
    if (limit === undefined) continue;
    const problem = "its owner set a cap, and did not remove it";
    reportOf(tally, nameOf(name))("caps", { problem, stored: "no cap", expected: String(limit.limitNanos) });
  }
}

function nameOf({ userId, scope, period }: Named): string {
  return `cap of user ${userId} for ${scope} per ${period}`;
}
