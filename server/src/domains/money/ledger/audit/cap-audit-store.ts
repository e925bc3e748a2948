// The limits of caps and their changes, as the audit reads them.
import { sql } from "kysely";
import type { LedgerCapId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { CapChange, CapLimit } from "../caps/cap-limit.ts";

/** The name of a cap: one scope of one account in one period. */
type CapName = { readonly userId: UserId; readonly scope: string; readonly period: string };
export type AuditedCapLimit = CapName & CapLimit & { readonly id: LedgerCapId };
export type AuditedCapChange = CapName & CapChange;

/** The limits of all caps, in the order of their ids. */
export async function listCapLimits(db: Reader): Promise<readonly AuditedCapLimit[]> {
  const { rows } = await sql<AuditedCapLimit & { readonly beforeNanos: bigint | null }>`
    select id, user_id as "userId", scope, period, limit_nanos as "limitNanos", limit_before_nanos as "beforeNanos",
      holds_from_at as "holdsFromAt"
    from ledger_caps order by id
  `.execute(db);
  return rows.map((row) => ({ ...row, beforeNanos: row.beforeNanos ?? undefined }));
}

/** All changes of caps in order, including those of removed caps. */
export async function listCapChanges(db: Reader): Promise<readonly AuditedCapChange[]> {
  const { rows } = await sql<AuditedCapChange & { readonly limitNanos: bigint | null }>`
    select user_id as "userId", scope, period, limit_nanos as "limitNanos", changed_at as "changedAt",
      holds_from_at as "holdsFromAt"
    from ledger_cap_changes order by id
  `.execute(db);
  return rows.map((row) => ({ ...row, limitNanos: row.limitNanos ?? undefined }));
}
