import { invalid, notFound, type AppError } from "../../../base/errors.ts";
import { asId, MAX_ID, type EndpointGroupId, type UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { findEndpointGroup, findEndpointIdByName } from "./store.ts";

/** The endpoint that a request names by id or by name; of several with one name the oldest. Throws if there is none. */
export async function requireEndpoint(
  db: Reader,
  userId: UserId,
  { id, name }: { readonly id: number | undefined; readonly name: string | undefined },
): Promise<EndpointGroupId> {
  if (id === undefined && name === undefined) {
    throw invalid("id", "id or endpoint is missing: the endpoint's number or its name", "invalid_args", {
      extra: { error_msg: "id or endpoint is missing" },
    });
  }
  const found =
    id === undefined
      ? await findEndpointIdByName(db, userId, name ?? "")
      : (await findEndpointGroup(db, asId<EndpointGroupId>(id >= 1 && id <= MAX_ID ? id : 0), userId))?.id;
  if (found === undefined) throw noSuchEndpoint();
  return found;
}

export function noSuchEndpoint(): AppError {
  const message = "Endpointgroup not found for user";
  return notFound("no_such_endpoint", message, { extra: { error_msg: message } });
}

/** The serverless SDK reads the reason from `error_msg`. */
export function noSuchWorkerGroup(id: number): AppError {
  const message = "No workergroup by that id is available.";
  return notFound("no_such_workergroup", message, { extra: { id, error_msg: message } });
}
