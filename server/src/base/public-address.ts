import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Reserved, private, local, shared and multicast IPv4 networks (IANA special-purpose registry), and broadcast. */
const REFUSED_IPV4: readonly (readonly [network: string, prefix: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** The public part of IPv6: global unicast, less IPv4 tunnels and special ranges (Teredo, ORCHID, examples, 6to4). */
const GLOBAL_IPV6 = ["2000::", 3] as const;
const REFUSED_IPV6: readonly (readonly [network: string, prefix: number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const refused = new BlockList();
for (const [network, prefix] of REFUSED_IPV4) refused.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of REFUSED_IPV6) refused.addSubnet(network, prefix, "ipv6");
const globalIpv6 = new BlockList();
globalIpv6.addSubnet(...GLOBAL_IPV6, "ipv6");

/**
 * True for an address that anybody on the internet could reach, so that to call it tells a user nothing of the server's
 * own network. A text that is no address is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !refused.check(address, "ipv4");
  // A zone names an interface of this machine.
  if (!isIPv6(address) || address.includes("%")) return false;
  return globalIpv6.check(address, "ipv6") && !refused.check(address, "ipv6");
}

/** An address as people write it: IPv4 addresses come as IPv6 ones from sockets that serve both. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/**
 * The network that an address counts for where callers are limited: an IPv4 address stands for itself, an IPv6 one for its
 * first 64 bits, since a caller with one of these addresses has all of them.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = [], tail = []] = plain.split("%", 1).join().split("::").map(groupsOf);
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  const groups = [...head, ...zeros, ...tail].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

/** The 16-bit groups in one half of an IPv6 address; an IPv4 address at its end stands for two. */
function groupsOf(half: string): readonly string[] {
  return half.split(":").flatMap((group) => (group === "" ? [] : group.includes(".") ? ["0", "0"] : [group]));
}
