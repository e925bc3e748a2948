import type { RouteAccess } from "../../../../base/access.ts";
import { refuseOperation, refuseParameters } from "../../../../base/access.ts";
import type { Clock } from "../../../../base/clock.ts";
import { forbidden, throwRefusal, type AppError } from "../../../../base/errors.ts";
import { refuseFrozen } from "../../../../base/freeze.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { findIdentityOfKey } from "../../../people/accounts/for-instances.ts";
import { describeMachines } from "../../../supply/hosts/index.ts";
import { noSuchInstance, refuseShell } from "../rules/refusals.ts";
import { isReachable } from "../rules/status.ts";
import { findInstanceOf } from "../service.ts";
import { NOT_ALLOWED, NOT_RUNNING, type Ending } from "./open-terminals.ts";
import type { ShellTarget } from "./shell-session.ts";

export type Entering = { readonly identity: Identity; readonly access: RouteAccess; readonly instanceId: number };

/** A run of an instance: a restart ends what was opened in the run before. */
export type EnteredRun = ShellTarget & { readonly generation: number };

/**
 * The caller's instance, if it can be entered now. Throws the refusal of a frozen account, which may not write by reading
 * either, and of an instance that does not run.
 */
export async function enterInstance(
  db: Reader,
  { identity, access, instanceId }: Entering,
  now: Date,
): Promise<EnteredRun> {
  throwRefusal(refuseFrozen(identity, "POST", access));
  const instance = await findInstanceOf(db, identity.userId, instanceId);
  if (instance === undefined) throw noSuchInstance(instanceId);
  const machine = (await describeMachines(db, [instance.machineId])).get(instance.machineId);
  if (machine === undefined) throw noSuchInstance(instanceId);
  throwRefusal(refuseShell(instance, { isReachable: isReachable(machine, now) }));
  const { id, machineId, generation, observed } = instance;
  const hostKey = machine.facts.is_simulated ? undefined : (observed?.sshHostKey ?? "");
  return { instanceId: id, machineId, generation, hostKey };
}

/** The reason why a terminal that was opened before must end now; undefined while it may go on. */
export async function refuseStay(
  means: Means,
  entering: Entering,
  { generation }: EnteredRun,
): Promise<Ending | undefined> {
  const { identity, instanceId } = entering;
  const refused = await refuseCaller(means, entering, "POST");
  if (refused !== undefined) return endingOf(NOT_ALLOWED, refused);
  const instance = await findInstanceOf(means.db, identity.userId, instanceId);
  if (instance === undefined) return endingOf(NOT_RUNNING, noSuchInstance(instanceId));
  const gone = refuseShell(instance, { isReachable: true });
  if (gone !== undefined) return endingOf(NOT_RUNNING, gone);
  if (instance.generation === generation) return undefined;
  return { code: NOT_RUNNING, reason: `Instance ${instanceId} was restarted. Open the terminal again.` };
}

type Means = { readonly db: Reader; readonly clock: Clock };

/** The refusal of a caller who was let in before: the key may be gone or grant less, the account may be frozen. */
export async function refuseCaller(
  { db, clock }: Means,
  { identity: { apiKeyId }, access, instanceId }: Entering,
  method: "GET" | "POST",
): Promise<AppError | undefined> {
  const identity = await findIdentityOfKey(db, apiKeyId, clock.now());
  if (identity === undefined) return forbidden("The key or session that opened this is over.");
  return (
    refuseOperation(identity, access) ??
    refuseParameters(identity, access, [{ id: instanceId }]) ??
    refuseFrozen(identity, method, access)
  );
}

/** Bytes of a reason that a WebSocket can carry. */
const REASON_BYTES_MAX = 123;

function endingOf(code: number, { publicMessage }: AppError): Ending {
  return { code, reason: cutReason(publicMessage) };
}

/** A sentence within the bytes of a reason, cut between characters. */
export function cutReason(text: string): string {
  let cut = text;
  while (Buffer.byteLength(cut) > REASON_BYTES_MAX) cut = Array.from(cut).slice(0, -1).join("");
  return cut;
}
