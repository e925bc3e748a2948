import { lookup, Resolver } from "node:dns/promises";
import http from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import type { Clock } from "../../../base/clock.ts";
import type { SignedRequest } from "../delivery/rules/event.ts";
import { isPublicAddress } from "../../../base/public-address.ts";
import { judgeStatus, type Outcome } from "../delivery/rules/retry.ts";
import { unlessAborted } from "../delivery/unless-aborted.ts";

export const WEBHOOK_TIMEOUT_MS = 10_000;
/** An answer is read up to this size, so that its sender is not cut off; its body is dropped. */
const ANSWER_BYTES_MAX = 65_536;

/** Resolves a host name to its addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Resolves like the operating system, its hosts file and search domains included. */
export const resolveBySystem: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

const DNS_TIMEOUT_MS = 2_500;
const DNS_TRIES = 2;

/**
 * Resolves by DNS alone, at these servers or those of this machine. The system's own resolver waits in one of a few
 * threads that files and other names need too: a handful of names without an answer would block the whole process.
 */
export function resolverByDns(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (ipv4.status === "rejected" && ipv6.status === "rejected") throw ipv4.reason;
    return [ipv4, ipv6].flatMap((found) => (found.status === "fulfilled" ? found.value : []));
  };
}

export type WebhookClientOptions = {
  readonly clock: Clock;
  readonly resolve: Resolve;
  /** True when addresses of this network may be called, and without TLS. */
  readonly isPrivateAllowed: boolean;
};

/** Sends one request to a receiver and returns the outcome; never throws for a fault of the receiver. */
export type WebhookClient = (url: string, request: SignedRequest, signal: AbortSignal) => Promise<Outcome>;

/**
 * Any user chooses receivers, so a call must not reach into the network of this server: the name is resolved once, each
 * of its addresses must be public, and the connection goes to the address that was checked.
 */
export function createWebhookClient({ clock, resolve, isPrivateAllowed }: WebhookClientOptions): WebhookClient {
  return async (text, request, signal) => {
    const url = new URL(text);
    if (url.protocol !== "https:" && !isPrivateAllowed) return { kind: "refused", text: "is no https address" };
    const over = new AbortController();
    const stop = () => over.abort();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    void clock.sleep(WEBHOOK_TIMEOUT_MS, over.signal).then(stop);
    try {
      return await attempt(url, request, over.signal);
    } catch (error) {
      if (signal.aborted) return { kind: "retry", text: "interrupted by a stop of the server" };
      if (over.signal.aborted) return { kind: "retry", text: "did not answer in time" };
      return { kind: "retry", text: `could not be reached (${codeOf(error)})` };
    } finally {
      // Ends the timer and the rest of the connection.
      stop();
      signal.removeEventListener("abort", stop);
    }
  };

  async function attempt(url: URL, request: SignedRequest, signal: AbortSignal): Promise<Outcome> {
    const hostname = url.hostname.replace(/^\[|\]$/g, "");
    const addresses = isIP(hostname) === 0 ? await unlessAborted(resolve(hostname), signal) : [hostname];
    const [address] = addresses;
    if (address === undefined) return { kind: "retry", text: "its name has no address" };
    if (!isPrivateAllowed && !addresses.every(isPublicAddress)) {
      return { kind: "refused", text: "its name does not stand for public addresses only" };
    }
    return judgeStatus(await send(url, { hostname, address, request, signal }));
  }
}

type Call = {
  readonly hostname: string;
  readonly address: string;
  readonly request: SignedRequest;
  readonly signal: AbortSignal;
};

/** Connects to the address; the name goes into the certificate check and the Host header. */
function send(url: URL, { hostname, address, request, signal }: Call): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const options = {
    host: address,
    port: url.port,
    path: `${url.pathname}${url.search}`,
    method: "POST",
    headers: { Host: url.host, ...request.headers, Connection: "close" },
    agent: false,
    signal,
  } as const;
  const onAnswer = (answer: http.IncomingMessage) => {
    const { statusCode = 0 } = answer;
    void drop(answer).then(() => resolve(statusCode));
  };
  const outgoing =
    url.protocol === "https:"
      ? https.request({ ...options, servername: isIP(hostname) === 0 ? hostname : "" }, onAnswer)
      : http.request(options, onAnswer);
  // Without this handler a receiver that switches protocols is cut off, and neither answer nor error is reported.
  outgoing.on("upgrade", ({ statusCode = 0 }, socket) => {
    socket.destroy();
    resolve(statusCode);
  });
  outgoing.on("error", reject);
  outgoing.end(request.body);
  return promise;
}

/** The status decides, even if the rest of the answer fails. */
async function drop(answer: http.IncomingMessage): Promise<void> {
  let byteCount = 0;
  try {
    for await (const chunk of answer) {
      byteCount += Buffer.byteLength(chunk);
      if (byteCount > ANSWER_BYTES_MAX) break;
    }
  } catch {
    // A broken or endless body does not change the outcome.
  }
}

/** An error code such as `ECONNREFUSED`, without the address. */
function codeOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "no reason given";
}
