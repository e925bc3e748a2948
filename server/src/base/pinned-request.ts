import http from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** Resolves a host name to its addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** The way to servers that users choose. */
export type Outside = {
  readonly resolve: Resolve;
  /** True when addresses of this network may be called, and without TLS. */
  readonly isPrivateAllowed: boolean;
};

/** The address that a request to a URL goes to, or the reason why there is none. */
export type Pinned =
  | { readonly kind: "pinned"; readonly hostname: string; readonly address: string }
  | { readonly kind: "unknown" }
  /** One of its addresses is not public. */
  | { readonly kind: "private" };

/**
 * Any user chooses such URLs, so a call must not reach into the network of this server: the name is resolved once, each
 * of its addresses must be public, and the connection goes to the address that was checked.
 */
export async function pin(url: URL, { resolve, isPrivateAllowed }: Outside, signal: AbortSignal): Promise<Pinned> {
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(hostname) === 0 ? await unlessAborted(resolve(hostname), signal) : [hostname];
  const [address] = addresses;
  if (address === undefined) return { kind: "unknown" };
  if (!isPrivateAllowed && !addresses.every(isPublicAddress)) return { kind: "private" };
  return { kind: "pinned", hostname, address };
}

export type PinnedRequest = {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** The answer is read up to this size; the rest is dropped. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
};

export type PinnedAnswer = {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  /** The way that the body ended: a cut one was longer than `bytesMax`, a broken one came in part only. */
  readonly ending: "whole" | "cut" | "broken";
};

/** Connects to the address; the name goes into the certificate check and the Host header. Redirects are not followed. */
export function requestPinned(
  url: URL,
  { hostname, address }: Extract<Pinned, { readonly kind: "pinned" }>,
  { method, headers, body, bytesMax, signal }: PinnedRequest,
): Promise<PinnedAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PinnedAnswer>();
  const options = {
    host: address,
    port: url.port,
    path: `${url.pathname}${url.search}`,
    method,
    headers: { Host: url.host, ...headers, Connection: "close" },
    agent: false,
    signal,
  } as const;
  const onAnswer = (answer: http.IncomingMessage) => {
    const { statusCode: status = 0, headers: given } = answer;
    void read(answer, bytesMax).then((content) => resolve({ status, headers: given, ...content }));
  };
  const outgoing =
    url.protocol === "https:"
      ? https.request({ ...options, servername: isIP(hostname) === 0 ? hostname : "" }, onAnswer)
      : http.request(options, onAnswer);
  // Without this handler a server that switches protocols is cut off, and neither answer nor error is reported.
  outgoing.on("upgrade", ({ statusCode: status = 0, headers: given }, socket) => {
    socket.destroy();
    resolve({ status, headers: given, body: Buffer.alloc(0), ending: "broken" });
  });
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}

/** The body, as far as it comes: the status counts even if the rest of the answer fails. */
async function read(answer: http.IncomingMessage, bytesMax: number): Promise<Pick<PinnedAnswer, "body" | "ending">> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      byteCount += chunk.byteLength;
      if (byteCount > bytesMax) return { body: Buffer.concat(chunks), ending: "cut" };
      chunks.push(chunk);
    }
    return { body: Buffer.concat(chunks), ending: answer.complete ? "whole" : "broken" };
  } catch {
    return { body: Buffer.concat(chunks), ending: "broken" };
  }
}

/** An error code such as `ECONNREFUSED`, without the address. */
export function codeOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "no reason given";
}
