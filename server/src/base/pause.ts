import { asParameters, isUnscopedAdmin, type RouteAccess } from "./access.ts";
import { isAct } from "./acts.ts";
import { AppError } from "./errors.ts";
import type { Identity } from "./identity.ts";

/** A time in which accounts change nothing. */
export type Pause = {
  readonly id: number;
  /** The sentence that people read. */
  readonly message: string;
  readonly untilAt: Date;
};

/** Acts by which people sign in, keep their account safe and read their notifications. */
const OF_ONES_OWN = /^api\.(?:apikey|browser|notice|passkey|session|tfa)\./;
/** Acts by which people work in what runs already. */
const USING: ReadonlySet<string> = new Set([
  "api.copy.size",
  "api.instance.execute",
  "api.instance.make_folder",
  "api.instance.request_logs",
  "api.instance.upload_file",
]);
/** Acts that move instances to another state, which the body names. */
const STOPPING: ReadonlySet<string> = new Set(["api.instance.update", "api.instance.update_bulk"]);
const STOP_MEMBERS: ReadonlySet<string> = new Set(["id", "ids", "state"]);

/**
 * The refusal of a change while the service pauses (`service_paused`, 503); undefined when the call may be made. Reading,
 * signing in, deleting and stopping go on, since nobody should pay for what they want to end, and so does all traffic of
 * what runs. Administrators may do everything.
 */
export function refusePaused(
  pause: Pause | undefined,
  identity: Identity,
  { method, body, now }: { readonly method: string; readonly body: unknown; readonly now: Date },
  access: RouteAccess,
): AppError | undefined {
  if (pause === undefined || pause.untilAt <= now || !isAct(method, access)) return undefined;
  const isEnding = (method === "DELETE" && access.movesMoney !== true) || isStop(access, body);
  const isFree = isEnding || OF_ONES_OWN.test(access.operation) || USING.has(access.operation);
  if (isFree || isUnscopedAdmin(identity)) return undefined;
  const until = `${pause.untilAt.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const message = `The service is paused until ${until}: ${pause.message} What runs goes on, and you can read, stop and delete.`;
  const retryAfterSeconds = Math.max(1, Math.ceil((pause.untilAt.getTime() - now.getTime()) / 1000));
  return new AppError("unavailable", "service_paused", message, { retryAfterSeconds });
}

function isStop({ operation }: RouteAccess, body: unknown): boolean {
  const parameters = asParameters(body);
  const isNothingElse = Object.keys(parameters).every((name) => STOP_MEMBERS.has(name));
  return STOPPING.has(operation) && parameters["state"] === "stopped" && isNothingElse;
}
