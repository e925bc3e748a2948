import type { FastifyRequest } from "fastify";
import { forbidden } from "../../base/errors.ts";

/** The header that the console adds to each request. Pages of other sites cannot: their browsers would ask this server first. */
const CONSOLE_HEADER = "x-berth-console";

/** The parts of a request that say which page sent it. `host` is that of a trusted proxy where there is one. */
export type Sender = Pick<FastifyRequest, "headers"> & { readonly host?: string };

/**
 * True when the request says that a page of this server sent it, as browsers do in `Origin` for all but plain reads. Check it
 * before a WebSocket is opened by cookie: browsers let pages of other sites open those.
 */
export function isSameOrigin(sender: Sender): boolean {
  return senderOf(sender) === "own";
}

/**
 * Throws `cross_site_request` when a page of another site sent the request. Requests that say nothing about a page pass:
 * programs send no `Origin`.
 */
export function refuseOtherSite(sender: Sender): void {
  if (senderOf(sender) === "other") throw crossSite("A page of another site sent this request, so nothing was done.");
}

/** Throws `cross_site_request` unless the console sent the request, or a program that claims to be it. */
export function refuseCrossSite(sender: Sender): void {
  refuseOtherSite(sender);
  if (sender.headers[CONSOLE_HEADER] !== undefined) return;
  throw crossSite("A change by session cookie needs the header X-Berth-Console: 1. Programs use an API key instead.");
}

function senderOf({ headers, host = headers.host }: Sender): "own" | "other" | "unsaid" {
  const { origin, "sec-fetch-site": site } = headers;
  if (site !== undefined && site !== "same-origin" && site !== "none") return "other";
  if (origin === undefined) return site === "same-origin" ? "own" : "unsaid";
  // The scheme is left out: a proxy that ends TLS need not be trusted about it, and a browser says it in the other header.
  return host !== undefined && URL.parse(origin)?.host === hostOf(host, origin) ? "own" : "other";
}

/** The host with the port left out where it is the usual one, as in an `Origin`. */
function hostOf(host: string, origin: string): string | undefined {
  return URL.parse(`${origin.startsWith("https:") ? "https" : "http"}://${host}`)?.host;
}

function crossSite(message: string) {
  return forbidden(message, "cross_site_request");
}
