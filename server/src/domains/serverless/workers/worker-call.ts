import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { Clock } from "../../../base/clock.ts";
import type { InstanceId } from "../../../base/ids.ts";
import { identityOf } from "./worker-client.ts";

const TIMEOUT_MS = 5_000;

type Told = { readonly url: string; readonly token: string; readonly workerId: InstanceId };
type Means = {
  readonly clock: Clock;
  /** The certificate of the authority that signs the certificates of workers. */
  readonly rootCertificate: () => Promise<string>;
};

/**
 * Tells a worker that it is about to be updated. Its address was checked to be its own when it reported it, and
 * redirects are not followed. A worker that cannot be reached is updated all the same.
 */
export function updateTeller({ clock, rootCertificate }: Means): (worker: Told) => Promise<void> {
  return async (worker) => {
    const [over, answered] = [new AbortController(), new AbortController()];
    void clock.sleep(TIMEOUT_MS, answered.signal).then(() => over.abort());
    await tell(worker, { rootCertificate, signal: over.signal }).catch(() => undefined);
    answered.abort();
  };
}

async function tell(
  { url, token, workerId }: Told,
  { rootCertificate, signal }: Pick<Means, "rootCertificate"> & { readonly signal: AbortSignal },
): Promise<void> {
  const isSecure = url.startsWith("https:");
  const asked = (isSecure ? https : http).request(new URL("/pyworker/update", url), {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${token}`, "content-length": 0 },
    signal,
    ...(isSecure ? { ca: await rootCertificate(), checkServerIdentity: identityOf(workerId) } : {}),
  });
  asked.end();
  const [answer]: IncomingMessage[] = await once(asked, "response");
  answer?.destroy();
}
