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
/** An answer is read to its end so that its sender is not cut off, and no further than this; nothing of it is kept. */
const ANSWER_BYTES_MAX = 65_536;

/** The addresses that a name stands for. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** As this machine resolves names for itself, its hosts file and search domains included. */
export const resolveBySystem: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

const DNS_TIMEOUT_MS = 2_500;
const DNS_TRIES = 2;

/**
 * By DNS alone, at these servers or those of this machine. The system's own way waits in one of the few threads that files
 * and other names are waited for in as well: a handful of names that nobody answers for would hold up the whole process.
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
  /** Addresses of this network may be called, and without TLS. */
  readonly isPrivateAllowed: boolean;
};

/** Sends one request to a receiver and says what came of it; never throws for what the receiver does. */
export type WebhookClient = (url: string, request: SignedRequest, signal: AbortSignal) => Promise<Outcome>;

/**
 * Receivers are anybody's, so a call of theirs must not become a look into the network of this server: the name is
 * resolved once, each of its addresses must be public, and the connection goes to the one that was looked at.
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
      // Ends the timer and whatever is left of the connection.
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

/** Connects to the address itself; the name is what the certificate must be for, and what the receiver is told. */
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
  // Without this a receiver that switches protocols is cut off, and neither answer nor error is ever told.
  outgoing.on("upgrade", ({ statusCode = 0 }, socket) => {
    socket.destroy();
    resolve(statusCode);
  });
  outgoing.on("error", reject);
  outgoing.end(request.body);
  return promise;
}

/** What the receiver said with its status stands, whatever becomes of the rest of its answer. */
async function drop(answer: http.IncomingMessage): Promise<void> {
  let byteCount = 0;
  try {
    for await (const chunk of answer) {
      byteCount += Buffer.byteLength(chunk);
      if (byteCount > ANSWER_BYTES_MAX) break;
    }
  } catch {
    // A broken or endless body takes nothing back.
  }
}

/** `ECONNREFUSED` and the like: what it was, and nothing of where. */
function codeOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "no reason given";
}
