import { BlockList, isIPv4, isIPv6 } from "node:net";
import { isPublicAddress } from "../../../base/public-address.ts";
import type { Site } from "../../rental/instances/index.ts";

export type Address =
  | { readonly kind: "own"; readonly url: string }
  /** Somebody else's, or none at all. */
  | { readonly kind: "foreign" }
  /** In a private network, and said by a host that the operator does not answer for. */
  | { readonly kind: "private" }
  /** Its host has not said yet by which ports it is reached. */
  | { readonly kind: "unknown" };

const FOREIGN: Address = { kind: "foreign" };

/**
 * The address as it is kept, if it is one of the worker's own: we send requests there, and may be sent nowhere else.
 * `unknown` as long as its host has not said by which ports it is reached.
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

/** The form in which an address is kept if it is the worker's own; undefined when it can be no worker's. */
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

/** Published workers put the address of their host and the port together, whatever the address is. */
const BARE_IPV6 = /^(https?:\/\/)([0-9a-f]*(?::[0-9a-f]*){2,})(:\d{1,5})\/?$/i;
const DEFAULT_PORTS = { "http:": 80, "https:": 443 } as const;

/**
 * An address as it is written in URLs. Its host says it, who may be anybody: a name would be looked up anew with each
 * request, and what is on this server's own link is no machine of a host, but may be what its provider trusts it by.
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
// IPv4 in the clothes of IPv6.
hostlessIpv6.addSubnet("::ffff:0:0", 96, "ipv6");
hostlessIpv6.addSubnet("fe80::", 10, "ipv6");
hostlessIpv6.addSubnet("ff00::", 8, "ipv6");
