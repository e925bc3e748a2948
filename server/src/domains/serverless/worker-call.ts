import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";

const TIMEOUT_MS = 5_000;

type Told = { readonly url: string; readonly token: string };

/**
 * Tells a worker that it is about to be made anew (semantics.md §12.6). Its address was found to be its own when it
 * reported it, and no answer leads anywhere else. One that cannot be reached has nothing to finish that we could save.
 * `rootCertificate`: of the authority that signs the certificates of workers.
 */
export function updateTeller(rootCertificate: () => Promise<string>): (worker: Told) => Promise<void> {
  return async (worker) => {
    await tell(worker, rootCertificate).catch(() => undefined);
  };
}

async function tell({ url, token }: Told, rootCertificate: () => Promise<string>): Promise<void> {
  const isSecure = url.startsWith("https:");
  const asked = (isSecure ? https : http).request(new URL("/pyworker/update", url), {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${token}`, "content-length": 0 },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(isSecure ? { ca: await rootCertificate() } : {}),
  });
  asked.end();
  const [answer]: IncomingMessage[] = await once(asked, "response");
  answer?.destroy();
}
