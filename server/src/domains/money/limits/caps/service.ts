import { forbidden, invalid, notFound, type AppError } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import { asId, type ApiKeyId, type EndpointGroupId, type LedgerCapId, type UserId } from "../../../../base/ids.ts";
import { invariant, unreachable } from "../../../../base/invariant.ts";
import { nanos, parseDollars } from "../../../../base/money.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { Database } from "../../../../db/connect.ts";
import { HOLD_SECONDS } from "../../../../base/stop-times.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { hasApiKey, listKeyIdsEver } from "../../../people/accounts/index.ts";
import { findInstanceOf } from "../../../rental/instances/index.ts";
import { deleteCap, findCap, putCap } from "../../ledger/for-limits.ts";
import {
  idOfScope,
  kindOfScope,
  listCaps,
  listCapsOfScopes,
  lockCredit,
  startOf,
  type Cap,
  type CapScope,
} from "../../ledger/index.ts";
import { SETTLED_AT_ONCE_MAX, settleVolumesWithin, settleWithin } from "../../charging/for-limits.ts";
import { spentWithin } from "../../charging/index.ts";
import { hasEndpointGroup } from "../../../serverless/index.ts";
import type { PutCapBody } from "./schema.ts";

const CAPS_MAX = 1000;

/**
 * Charges the cost of the volumes of a scope until now, so that a cap that changes next counts it. Volumes and
 * instances lock accounts of different hosts, so they are settled in transactions of their own.
 */
export async function settleBeforeCap(
  database: Database,
  clock: Clock,
  identity: Identity,
  named: Pick<PutCapBody, "scope" | "scope_id">,
): Promise<void> {
  const { userId } = identity;
  const scope = scopeNamed(identity, named);
  await settleVolumesWithin(database, clock, { userId, scope, limit: SETTLED_AT_ONCE_MAX });
}

/**
 * Sets or changes the limit of a scope of the caller's account. Use within the scope is settled first by the earlier
 * limit; the new limit holds from now on, or from the moment at which everything that it cannot pay for has certainly
 * stopped. Charges of the present period count.
 */
export async function setCap(tx: Tx, identity: Identity, body: PutCapBody): Promise<Cap> {
  const { userId } = identity;
  const limit = parseDollars(body.limit);
  if (limit === undefined) throw invalid("limit", "limit must be a number of dollars");
  const scope = scopeNamed(identity, body);
  refuseOwnKey(identity, scope);
  const { isCovered } = await settleWithin(tx, { userId, scope });
  await lockCredit(tx, userId);
  const caps = await listCaps(tx.db, userId, tx.now);
  // A scope with a cap may be gone, and what it rented still costs: a key that was deleted.
  if (!caps.some((cap) => cap.scope === scope)) await requireOwn(tx.db, userId, scope);
  const { period } = body;
  const isKnown = caps.some((cap) => cap.scope === scope && cap.period === period);
  if (!isKnown && caps.length >= CAPS_MAX) {
    throw invalid("scope", `An account may have at most ${CAPS_MAX} caps.`, "max_caps");
  }
  const spent = isKnown ? nanos(0n) : await spentWithin(tx.db, { userId, scope, from: startOf(period, tx.now) });
  const stoppedBy = new Date(tx.now.getTime() + HOLD_SECONDS * 1000);
  const id = await putCap(tx, { userId, scope, period, limit, spent, isCovered, stoppedBy });
  const cap = await findCap(tx.db, userId, id, tx.now);
  invariant(cap !== undefined, "a cap that was put is there");
  return cap;
}

/** Removes a cap, after use within it is settled by its limit. */
export async function removeCap(tx: Tx, identity: Identity, id: number): Promise<void> {
  const { userId } = identity;
  const capId = asId<LedgerCapId>(id);
  const cap = await findCap(tx.db, userId, capId, tx.now);
  if (cap === undefined) throw noSuchCap(id);
  refuseOwnKey(identity, cap.scope);
  await settleWithin(tx, { userId, scope: cap.scope });
  await lockCredit(tx, userId);
  if (!(await deleteCap(tx, userId, capId))) throw noSuchCap(id);
}

/**
 * Refuses new keys to a key with a cap, since they would not have it. A member with a capped key of a team, deleted
 * ones included, makes no more keys of that team either.
 */
export async function refuseNewKeys(
  tx: Tx,
  { userId, memberId, apiKeyId }: Identity,
  teamId: number | undefined,
): Promise<void> {
  await refuseCapped(tx, userId, [apiKeyId]);
  if (teamId === undefined || teamId === userId) return;
  await refuseCappedMember(tx, { teamId: asId<UserId>(teamId), memberId: memberId ?? userId });
}

/** Refuses new keys of a team to a member who has or had a capped key of it. */
export async function refuseCappedMember(
  tx: Tx,
  member: { readonly teamId: UserId; readonly memberId: UserId },
): Promise<void> {
  await refuseCapped(tx, member.teamId, await listKeyIdsEver(tx.db, member));
}

async function refuseCapped(tx: Tx, accountId: UserId, apiKeyIds: readonly ApiKeyId[]): Promise<void> {
  const scopes: readonly CapScope[] = apiKeyIds.map((id) => `key:${id}` as const);
  const caps = await listCapsOfScopes(tx.db, [`account:${accountId}`, ...scopes], tx.now);
  if (!caps.some(({ scope }) => scopes.includes(scope))) return;
  throw forbidden("A key with a cap makes no other keys: they would not have it.");
}

/** The scope that a request names, before its owner is checked. */
function scopeNamed(
  { userId }: Identity,
  { scope: kind, scope_id: given }: Pick<PutCapBody, "scope" | "scope_id">,
): CapScope {
  const id = given ?? (kind === "account" ? userId : undefined);
  if (id === undefined) throw invalid("scope_id", `scope_id is required for the scope ${kind}`);
  return `${kind}:${id}`;
}

/** Refuses a scope of another account as one that does not exist. */
async function requireOwn(db: Reader, userId: UserId, scope: CapScope): Promise<void> {
  const [kind, id] = [kindOfScope(scope), idOfScope(scope)];
  switch (kind) {
    case "account":
      if (id !== userId) throw notFound("no_such_user", `Account ${id} is not yours.`);
      return;
    case "key":
      if (await hasApiKey(db, userId, asId<ApiKeyId>(id))) return;
      throw notFound("no_such_api_key", `You have no API key ${id}.`);
    case "endpoint":
      if (await hasEndpointGroup(db, userId, asId<EndpointGroupId>(id))) return;
      throw notFound("no_such_endpoint", `You have no endpoint group ${id}.`);
    case "instance": {
      const instance = await findInstanceOf(db, userId, id);
      if (instance !== undefined && instance.phase !== "ended") return;
      throw notFound("no_such_instance", `There is no instance ${id}.`);
    }
    default:
      unreachable(kind);
  }
}

/** A key with a cap must not lift its own limit. */
function refuseOwnKey({ apiKeyId }: Identity, scope: CapScope): void {
  if (scope === `key:${apiKeyId}`) throw forbidden("A key cannot change its own cap: use another key of the account.");
}

function noSuchCap(id: number): AppError {
  return notFound("no_such_cap", `You have no cap ${id}.`);
}
