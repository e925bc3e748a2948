import { lookup, Resolver } from "node:dns/promises";
import type { Clock } from "../../../base/clock.ts";
import type { SignedRequest } from "../delivery/rules/event.ts";
import { codeOf, pin, requestPinned, type Outside, type Resolve } from "../../../base/pinned-request.ts";
import { judgeStatus, type Outcome } from "../delivery/rules/retry.ts";

export const WEBHOOK_TIMEOUT_MS = 10_000;
/** An answer is read up to this size, so that its sender is not cut off; its body is dropped. */
const ANSWER_BYTES_MAX = 65_536;

export type { Resolve };

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

export type WebhookClientOptions = Outside & { readonly clock: Clock };

/** Sends one request to a receiver and returns the outcome; never throws for a fault of the receiver. */
export type WebhookClient = (url: string, request: SignedRequest, signal: AbortSignal) => Promise<Outcome>;

/** A client for receivers, which any user chooses: it reaches public addresses only, unless this network is allowed. */
export function createWebhookClient({ clock, ...outside }: WebhookClientOptions): WebhookClient {
  return async (text, request, signal) => {
    const url = new URL(text);
    if (url.protocol !== "https:" && !outside.isPrivateAllowed) return { kind: "refused", text: "is no https address" };
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
    const pinned = await pin(url, outside, signal);
    if (pinned.kind === "unknown") return { kind: "retry", text: "its name has no address" };
    if (pinned.kind === "private") {
      return { kind: "refused", text: "its name does not stand for public addresses only" };
    }
    const { headers, body } = request;
    const { status } = await requestPinned(url, pinned, {
      ...{ method: "POST", headers, body, signal },
      bytesMax: ANSWER_BYTES_MAX,
    } as const);
    return judgeStatus(status);
  }
}
