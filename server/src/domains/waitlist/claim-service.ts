import { AppError } from "../../base/errors.ts";
import type { InstanceId, StandingRequestId } from "../../base/ids.ts";
import { invariant } from "../../base/invariant.ts";
import type { Sealer } from "../../base/seal.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import { createInstances, type CreateOrder, type Wish } from "../instances/index.ts";
import { resolveTemplateByHash } from "../templates/index.ts";
import type { StandingRequest } from "./standing-request.ts";
import { closeStandingRequest, findLaunch, lockOpen, noteAttempt } from "./store.ts";

export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly instanceId: InstanceId }
  /** Somebody closed it: its renter, its time, or another process that claimed it. */
  | { readonly kind: "closed" }
  | { readonly kind: "refused"; readonly error: AppError };

/**
 * Rents the offer for the request and closes it, both or neither. The request's lock comes first: of two processes one
 * waits here, and then finds it closed.
 */
export async function claimOffer(tx: Tx, id: StandingRequestId, order: CreateOrder): Promise<ClaimOutcome> {
  if ((await lockOpen(tx, id)) === undefined) return { kind: "closed" };
  const [outcome] = await createInstances(tx, [order]);
  invariant(outcome !== undefined, "each order has its outcome");
  if (outcome instanceof AppError) {
    // An offer that is gone is no news for the renter: the next one may do.
    if (outcome.kind !== "gone") await noteAttempt(tx, id, outcome.publicMessage);
    return { kind: "refused", error: outcome };
  }
  const instanceId = order.instanceId;
  await closeStandingRequest(tx, { id, status: "claimed", instanceId });
  return { kind: "claimed", instanceId };
}

/** It can never be claimed: says why, unless somebody else closed it. */
export async function failRequest(tx: Tx, id: StandingRequestId, reason: string): Promise<void> {
  if ((await lockOpen(tx, id)) === undefined) return;
  await closeStandingRequest(tx, { id, status: "failed", reason });
}

/** What the request orders, as it was settled when it was made; throws why that cannot be had any more. */
export async function wishOfRequest(
  db: Reader,
  { id, userId, bidNanosPerHour }: StandingRequest,
  sealer: Sealer,
): Promise<Wish | undefined> {
  const stored = await findLaunch(db, id);
  if (stored === undefined) return undefined;
  const { templateHashId: hash, volumeInfo, capScopes } = stored;
  const template = hash === undefined ? undefined : await resolveTemplateByHash(db, userId, hash, sealer);
  return {
    userId,
    capScopes,
    launch: openLogin(stored.launch, id, sealer),
    template: template && { id: template.id, hashId: template.hashId },
    volumeInfo,
    bidNanosPerHour,
    target: "running",
    isRefusedUnlessRunning: true,
  };
}

type Launch = Wish["launch"];

/** The settings as they may be stored: the password for the registry is sealed for this request. */
export function sealLogin(launch: Launch, id: StandingRequestId, sealer: Sealer): Launch {
  const { registry_auth: login } = launch;
  if (login === null) return launch;
  return { ...launch, registry_auth: { ...login, password: sealer.seal(login.password, contextOf(id)) } };
}

function openLogin(launch: Launch, id: StandingRequestId, sealer: Sealer): Launch {
  const { registry_auth: login } = launch;
  if (login === null) return launch;
  const password = sealer.open(login.password, contextOf(id));
  if (password !== undefined) return { ...launch, registry_auth: { ...login, password } };
  throw new AppError("not_found", "not_found", "The registry password of this request can no longer be read.");
}

function contextOf(id: StandingRequestId): string {
  return `standing request registry password ${id}`;
}
