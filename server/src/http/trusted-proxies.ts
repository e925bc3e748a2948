import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { plainAddress } from "../base/public-address.ts";
import { unreachable } from "../base/invariant.ts";

/**
 * The proxies that are trusted about a client's address: none, a number of them in a row in front of this server, or
 * those at these addresses. The left-most entry of `X-Forwarded-For` comes from the client itself and is never trusted.
 */
export type TrustedProxies =
  | { readonly kind: "none" }
  | { readonly kind: "hops"; readonly count: number }
  | { readonly kind: "addresses"; readonly addresses: readonly string[] };

export const NO_PROXIES: TrustedProxies = { kind: "none" };

const HOPS_MAX = 10;
const ADDRESSES_MAX = 100;

/** Reads `1` (hops) or `10.0.0.0/8, 192.0.2.7` (addresses and networks); undefined when the text is neither. */
export function parseTrustedProxies(text: string): TrustedProxies | undefined {
  if (text === "" || text === "0") return NO_PROXIES;
  if (/^\d{1,2}$/.test(text)) {
    const count = Number(text);
    return count <= HOPS_MAX ? { kind: "hops", count } : undefined;
  }
  const addresses = text.split(",").map((part) => part.trim());
  return addresses.length <= ADDRESSES_MAX && addresses.every(isNetwork) ? { kind: "addresses", addresses } : undefined;
}

function isNetwork(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

/**
 * True when the sender at `address` is a trusted proxy; `hop` 0 is the other end of the connection, 1 the sender before
 * it by the last entry of `X-Forwarded-For`, and so on.
 */
export type ProxyTrust = (address: string, hop: number) => boolean;

export function proxyTrust(proxies: TrustedProxies): ProxyTrust {
  switch (proxies.kind) {
    case "none":
      return () => false;
    case "hops":
      return (_address, hop) => hop < proxies.count;
    case "addresses": {
      const list = blockListOf(proxies.addresses);
      return (address) => {
        const plain = plainAddress(address);
        return isIP(plain) !== 0 && list.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
      };
    }
    default:
      return unreachable(proxies);
  }
}

/** The address of a client behind these proxies, for connections that do not come through the routes. */
export function clientAddressBehind(
  proxies: TrustedProxies,
): (request: IncomingMessage) => { readonly address: string; readonly isProxy: boolean } {
  const isProxy = proxyTrust(proxies);
  return ({ socket, headers }) => {
    const forwardedFor = [headers["x-forwarded-for"] ?? []].flat().join(",");
    const address = clientAddress(socket.remoteAddress ?? "", forwardedFor, isProxy);
    // A number of hops does not tell a proxy from an agent that connects without one.
    return { address, isProxy: proxies.kind === "addresses" && isProxy(address, 0) };
  };
}

function clientAddress(socketAddress: string, forwardedFor: string, isProxy: ProxyTrust): string {
  const forwarded = forwardedFor.split(",").map((part) => part.trim());
  const chain = [socketAddress, ...forwarded.filter((part) => part !== "").toReversed()];
  const hop = chain.findIndex((address, index) => !isProxy(address, index));
  return chain.at(hop) ?? socketAddress;
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of networks) {
    const [address = "", prefix] = text.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
