import { AppError } from "../../../base/errors.ts";
import type { InstanceId, StandingRequestId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { createInstances, type CreateOrder, type Wish } from "../instances/index.ts";
import { decryptLaunch, resolveTemplateByHash, type LaunchSettings, type EncryptedLaunch } from "../templates/index.ts";
import type { StandingRequest } from "./rules/standing-request.ts";
import { closeStandingRequest, findLaunch, lockOpen, noteAttempt } from "./store.ts";

export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly instanceId: InstanceId }
  /** The request was closed before: by its renter, by its deadline or by another process that claimed it. */
  | { readonly kind: "closed" }
  | { readonly kind: "refused"; readonly error: AppError };

/**
 * Rents the offer for the request and closes the request in one transaction. The lock of the request comes first: of
 * two processes the second waits here, and then finds it closed.
 */
export async function claimOffer(tx: Tx, id: StandingRequestId, order: CreateOrder): Promise<ClaimOutcome> {
  if ((await lockOpen(tx, id)) === undefined) return { kind: "closed" };
  const [outcome] = await createInstances(tx, [order]);
  invariant(outcome !== undefined, "each order has its outcome");
  if (outcome instanceof AppError) {
    // An offer that is gone is not worth telling the renter: the next offer may do.
    if (outcome.kind !== "gone") await noteAttempt(tx, id, outcome.publicMessage);
    return { kind: "refused", error: outcome };
  }
  const instanceId = order.instanceId;
  await closeStandingRequest(tx, { id, status: "claimed", instanceId });
  return { kind: "claimed", instanceId };
}

/** Closes a request that can never be claimed, with the reason, unless it is closed already. */
export async function failRequest(tx: Tx, id: StandingRequestId, reason: string): Promise<void> {
  if ((await lockOpen(tx, id)) === undefined) return;
  await closeStandingRequest(tx, { id, status: "failed", reason });
}

/**
 * The order of a request, as it was settled when the request was made. Throws when its
 * template or settings are gone; undefined when the request itself is.
 */
export async function wishOfRequest(
  db: Reader,
  { id, userId, bidNanosPerHour }: StandingRequest,
  encryption: Encryption,
): Promise<Wish | undefined> {
  const stored = await findLaunch(db, id);
  if (stored === undefined) return undefined;
  const { templateHashId: hash, volumeInfo, capScopes } = stored;
  const template = hash === undefined ? undefined : await resolveTemplateByHash(db, userId, hash, encryption);
  return {
    userId,
    capScopes,
    launch: decryptLaunchOf(id, stored.launch, encryption),
    template: template && { id: template.id, hashId: template.hashId },
    volumeInfo,
    bidNanosPerHour,
    target: "running",
    isRefusedUnlessRunning: true,
  };
}

/** The launch settings of a request, decrypted. */
function decryptLaunchOf(id: StandingRequestId, stored: EncryptedLaunch, encryption: Encryption): LaunchSettings {
  const launch = decryptLaunch(stored, { kind: "standing request", id }, encryption);
  if (launch !== undefined) return launch;
  throw new AppError("not_found", "not_found", `The settings of standing request ${id} can no longer be read.`);
}
