import { BlockList, isIPv4, isIPv6 } from "node:net";
import { isPublicAddress } from "../../../base/public-address.ts";
import type { Site } from "../../rental/instances/for-serverless.ts";

export type Address =
  | { readonly kind: "own"; readonly url: string }
  /** The address belongs to another machine, or is not valid. */
  | { readonly kind: "foreign" }
  /** The address is in a private network, and the operator does not answer for the host that reported it. */
  | { readonly kind: "private" }
  /** The host has not reported yet by which ports it is reached. */
  | { readonly kind: "unknown" };

const FOREIGN: Address = { kind: "foreign" };

/**
 * The address in its stored form, if it is one of the worker's own: we send requests there, so no report may direct
 * them elsewhere. `unknown` until its host has reported by which ports it is reached.
 */
export function readAddress(
  url: string,
  { ipAddress, isOperated, hostPorts }: Pick<Site, "ipAddress" | "isOperated" | "hostPorts">,
): Address {
  const said = parse(url);
  if (said === undefined || said.hostname !== hostnameOf(ipAddress)) return FOREIGN;
  if (!isOperated && !isPublicAddress(ipAddress)) return { kind: "private" };
  if (hostPorts === undefined) return { kind: "unknown" };
  return hostPorts.has(said.port) ? { kind: "own", url: toText(said) } : FOREIGN;
}

/** The stored form of a worker's address; undefined when it cannot be one. */
export function keptForm(url: string): string | undefined {
  const said = parse(url);
  return said && toText(said);
}

type Said = { readonly protocol: "http:" | "https:"; readonly hostname: string; readonly port: number };

function parse(url: string): Said | undefined {
  const text = url.replace(BARE_IPV6, "$1[$2]$3");
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, pathname, search, hash, username, password } = new URL(text);
  const isPlain = pathname === "/" && search === "" && hash === "" && username === "" && password === "";
  if (!isPlain || (protocol !== "http:" && protocol !== "https:")) return undefined;
  return { protocol, hostname, port: port === "" ? DEFAULT_PORTS[protocol] : Number(port) };
}

function toText({ protocol, hostname, port }: Said): string {
  return `${protocol}//${hostname}:${port}`;
}

/** Published workers join their host's address and the port with a colon, even for IPv6. */
const BARE_IPV6 = /^(https?:\/\/)([0-9a-f]*(?::[0-9a-f]*){2,})(:\d{1,5})\/?$/i;
const DEFAULT_PORTS = { "http:": 80, "https:": 443 } as const;

/**
 * The host's address as it is written in URLs. Any host may report it, so names are refused, as each request would
 * look them up again. Addresses on this server's own link are refused too: no host's machine is there, but perhaps a
 * service that trusts this server by its address.
 */
function hostnameOf(ipAddress: string): string | undefined {
  if (isIPv4(ipAddress)) return hostlessIpv4.check(ipAddress, "ipv4") ? undefined : ipAddress;
  if (!isIPv6(ipAddress) || ipAddress.includes("%") || hostlessIpv6.check(ipAddress, "ipv6")) return undefined;
  return new URL(`http://[${ipAddress}]/`).hostname;
}

const hostlessIpv4 = new BlockList();
hostlessIpv4.addSubnet("0.0.0.0", 8, "ipv4");
hostlessIpv4.addSubnet("169.254.0.0", 16, "ipv4");
hostlessIpv4.addSubnet("224.0.0.0", 3, "ipv4");
const hostlessIpv6 = new BlockList();
hostlessIpv6.addAddress("::", "ipv6");
// IPv4 addresses mapped into IPv6.
hostlessIpv6.addSubnet("::ffff:0:0", 96, "ipv6");
hostlessIpv6.addSubnet("fe80::", 10, "ipv6");
hostlessIpv6.addSubnet("ff00::", 8, "ipv6");
