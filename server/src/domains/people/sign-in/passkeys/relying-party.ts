import { isIP } from "node:net";

/** The site that passkeys belong to: a browser signs with them at this origin only. */
export type RelyingParty = { readonly id: string; readonly origin: string };

/** The address of a request: the one that its Host header says, and the one that its connection has. */
export type CalledAddress = {
  readonly origin: string;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
};

export type Found =
  | { readonly kind: "party"; readonly party: RelyingParty }
  /** A sentence that says why no browser would take passkeys here. */
  | { readonly kind: "none"; readonly why: string };

const LOCALHOST = "localhost";

/**
 * The site of this server by its public address; without such a setting `localhost` alone, where the request came over
 * this machine and to this port. The Host header is any caller's word: with it, a page of another port of this machine
 * could collect signatures that hold here.
 */
export function findRelyingParty(publicUrl: string | undefined, called: CalledAddress): Found {
  if (publicUrl !== undefined) return partyAt(new URL(publicUrl));
  const url = new URL(called.origin);
  const isOwnPort = portOf(url) === called.localPort;
  if (url.hostname === LOCALHOST && isOwnPort && isLoopback(called.localAddress)) return partyAt(url);
  const port = called.localPort === undefined ? "" : `:${called.localPort}`;
  const what = isIP(unbracketed(url.hostname)) === 0 ? url.hostname : `${unbracketed(url.hostname)}, which is no name,`;
  return {
    kind: "none",
    why: `Passkeys belong to a name, and ${what} is not known to be this server's. On its own machine open http://localhost${port}; else the operator sets BERTH_PUBLIC_URL.`,
  };
}

function partyAt(url: URL): Found {
  const { hostname, origin, protocol } = url;
  if (isIP(unbracketed(hostname)) !== 0) {
    return {
      kind: "none",
      why: `Passkeys belong to a name, and BERTH_PUBLIC_URL has the number ${unbracketed(hostname)}. The operator sets it to an address with a name.`,
    };
  }
  const isSecure = protocol === "https:" || hostname === LOCALHOST || hostname.endsWith(`.${LOCALHOST}`);
  if (isSecure) return { kind: "party", party: { id: hostname, origin } };
  return {
    kind: "none",
    why: `Browsers use passkeys over https only, and BERTH_PUBLIC_URL is ${origin}. The operator sets it to an https address.`,
  };
}

function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}

function isLoopback(address: string | undefined): boolean {
  return address === "::1" || (address !== undefined && /^(::ffff:)?127\./.test(address));
}

function unbracketed(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
