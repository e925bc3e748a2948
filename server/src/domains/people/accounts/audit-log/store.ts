import { canonical } from "../../../../base/facts.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { ApiKeyId, UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { currentRequest } from "../../../../base/request-context.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** The actor: the identity of the request, or the user alone where no key was used. */
export type AuditActor = Pick<Identity, "userId"> & {
  readonly apiKeyId?: ApiKeyId;
  /** The member who acted, when the user is a team. */
  readonly memberId?: UserId | undefined;
};

/** One act. `args` never holds a secret: it names the objects of the act and does not copy the request. */
type AuditEvent = {
  readonly ipAddress: string;
  /** The operation, such as `api.user.update`. */
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
};

export type AuditRecord = AuditEvent & { readonly apiKeyId: ApiKeyId | undefined; readonly createdAt: Date };

/** The whole event as one text, for the digest in its fact. */
export function auditEventText(event: AuditRecord & { readonly userId: UserId }): string {
  const { userId, apiKeyId, ipAddress, action, args, createdAt } = event;
  return canonical([
    userId,
    apiKeyId ?? null,
    ipAddress,
    action,
    JSON.parse(JSON.stringify(args)),
    createdAt.toISOString(),
  ]);
}

/** An act with its actor and time. */
export type Act = AuditEvent & { readonly actor: AuditActor; readonly createdAt: Date };

/** Stores an act and its actor, in the transaction of the act. */
export async function recordAudit(tx: Tx, actor: AuditActor, event: AuditEvent): Promise<void> {
  await recordAudits(tx, [{ ...event, actor, createdAt: tx.now }]);
  const request = currentRequest();
  if (request !== undefined) request.isRecorded = true;
}

/** Stores acts in their order, by one statement. */
export async function recordAudits(tx: Tx, acts: readonly Act[]): Promise<void> {
  if (acts.length === 0) return;
  const noted = acts.map(({ args, ...act }) => ({
    ...act,
    args: act.actor.memberId === undefined ? args : { ...args, member_id: act.actor.memberId },
  }));
  const rows = await tx.db
    .insertInto("audit_events")
    .values(
      noted.map(({ actor, ipAddress, action, args, createdAt }) => ({
        user_id: actor.userId,
        api_key_id: actor.apiKeyId ?? null,
        ip_address: ipAddress,
        action,
        arguments: JSON.stringify(args),
        created_at: createdAt,
      })),
    )
    .returning("id")
    .execute();
  invariant(rows.length === noted.length, "each act has its row");
  for (const [index, { actor, ...event }] of noted.entries()) {
    const { userId, apiKeyId } = actor;
    const content = {
      user: userId,
      action: event.action,
      row: tx.digest(auditEventText({ ...event, userId, apiKeyId })),
    };
    tx.noteFact({ kind: "audit_event", subject: String(rows[index]?.id), content });
  }
}

/** The newest `limit` events of the user, newest first. */
export async function listAuditEvents(db: Reader, userId: UserId, limit: number): Promise<readonly AuditRecord[]> {
  const rows = await db
    .selectFrom("audit_events")
    .select(["api_key_id", "ip_address", "action", "arguments", "created_at"])
    .where("user_id", "=", userId)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    apiKeyId: row.api_key_id ?? undefined,
    ipAddress: row.ip_address,
    action: row.action,
    args: row.arguments as AuditEvent["args"],
    createdAt: row.created_at,
  }));
}
