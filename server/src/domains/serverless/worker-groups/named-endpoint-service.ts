import type { AppError } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { lockUser } from "../../people/accounts/index.ts";
import type { ParameterRequest } from "../endpoints/rules/parameters.ts";
import { createEndpointGroup, type RandomBytes } from "../endpoints/service.ts";
import { findEndpointIdByName } from "../endpoints/store.ts";
import type { WorkerGroupBody } from "./service.ts";

export type NamedEndpointPorts = {
  readonly random: RandomBytes;
  /** The refusal of a call that creates an endpoint with these parameters, if the caller may not make it. */
  readonly refusalOf: (request: ParameterRequest) => AppError | undefined;
};

/**
 * Creates the endpoint that a new worker group names, if the user has none of that name: with those settings of the
 * request that endpoints have as well, and their defaults for the others.
 */
export async function createNamedEndpoint(
  tx: Tx,
  { userId, body }: { readonly userId: UserId; readonly body: WorkerGroupBody },
  { random, refusalOf }: NamedEndpointPorts,
): Promise<void> {
  const { endpoint_id: id, endpoint_name: name } = body;
  const isKnown = async () => name === undefined || (await findEndpointIdByName(tx.db, userId, name)) !== undefined;
  if (id !== undefined || (await isKnown())) return;
  const request = settingsOf(body);
  const refusal = refusalOf(request);
  if (refusal !== undefined) throw refusal;
  // Requests that name the same endpoint at the same time create one.
  await lockUser(tx, userId);
  if (await isKnown()) return;
  await createEndpointGroup(tx, { userId, request, random });
}

const SHARED = ["min_load", "min_cold_load", "target_util", "cold_mult", "cold_workers", "max_workers"] as const;

function settingsOf(body: WorkerGroupBody): ParameterRequest {
  const sent = ["endpoint_name" as const, ...SHARED].filter((field) => body[field] !== undefined);
  return Object.fromEntries(sent.map((field) => [field, body[field]]));
}
