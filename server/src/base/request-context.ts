import { AsyncLocalStorage } from "node:async_hooks";
import type { Identity } from "./identity.ts";

/** The request that the running code works for. Log lines name it, and the audit log knows by it what is recorded already. */
export type RequestContext = {
  readonly requestId: string;
  /** The caller; undefined before they are known, and where no key is needed. */
  readonly identity: Identity | undefined;
  /** The instance that the request is about. */
  readonly instanceId: number | undefined;
  /** True once an entry of the audit log tells of the request. */
  isRecorded: boolean;
};

const contexts = new AsyncLocalStorage<RequestContext | undefined>();

/** Runs `work`, and everything that it begins, for this request. */
export function runFor<T>(context: RequestContext | undefined, work: () => T): T {
  return contexts.run(context, work);
}

/** The request that the running code works for; undefined in loops, and in batches that work for several requests. */
export function currentRequest(): RequestContext | undefined {
  return contexts.getStore();
}

/** Fields of the current request for a log line; none where there is no request. */
export function requestFields(): Readonly<Record<string, unknown>> {
  const context = currentRequest();
  if (context === undefined) return {};
  const { requestId, identity, instanceId } = context;
  return {
    request_id: requestId,
    ...(identity === undefined ? {} : { user_id: identity.userId }),
    ...(instanceId === undefined ? {} : { instance_id: instanceId }),
  };
}
