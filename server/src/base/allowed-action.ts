import { refuseOperation, refuseParameters, type Parameters, type RouteAccess } from "./access.ts";
import type { AppError } from "./errors.ts";
import { refuseFrozen } from "./freeze.ts";
import type { Identity } from "./identity.ts";
import { refuseWithoutFactor } from "./second-factor.ts";

/** The answer to whether a request would be accepted now; the reason is a sentence for people. */
export type AllowedAction = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

/** The answer for what refuses an action; undefined when nothing does. */
export function answerOf(refused: AppError | string | undefined): AllowedAction {
  if (refused === undefined) return { allowed: true };
  return { allowed: false, reason: typeof refused === "string" ? refused : refused.publicMessage };
}

/** The request behind an action. Parameters are those that are known before a person fills in a form. */
export type ActionRequest = {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly parameters?: (id: number) => Parameters;
  /** True for a GET that a frozen account may not make. */
  readonly isWriting?: true;
};

export type AccessOf = (method: string, path: string) => RouteAccess | undefined;

/** For each id, the reason why the caller's key may not make this request; undefined when it may. */
export function callerRefusal(
  identity: Identity,
  { method, path, parameters, isWriting }: ActionRequest,
  accessOf: AccessOf,
): (id: number) => string | undefined {
  const access = accessOf(method, path);
  if (access === undefined) return () => undefined;
  const refused =
    refuseOperation(identity, access) ??
    refuseFrozen(identity, isWriting === true ? "POST" : method, access) ??
    refuseWithoutFactor(identity, method, access);
  if (refused !== undefined) return () => refused.publicMessage;
  if (parameters === undefined) return () => undefined;
  return (id) => refuseParameters(identity, access, [parameters(id)])?.publicMessage;
}

/**
 * Narrows one action of a thing to what the caller's key may do. The refusal of a key comes before that of the thing, as it
 * does in a request.
 */
export function narrowed<Action extends { readonly allowed: boolean }>(
  refusal: string | undefined,
  action: Action,
): Action | { readonly allowed: false; readonly reason: string } {
  return refusal === undefined ? action : { allowed: false, reason: refusal };
}
