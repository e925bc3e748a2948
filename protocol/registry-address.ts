// The place of an image's registry by its name. Both ends decide by it: the server before it takes an order,
// the agent before its engine connects.

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** Networks that are nobody's on the internet (IANA special-purpose registry), with multicast and broadcast. */
const PRIVATE_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
].map((network) => parsePrefix(network, ipv4Number, 32));
const GLOBAL_IPV6 = parsePrefix("2000::/3", ipv6Number, 128);
/** Within it: Teredo, ORCHID, examples, 6to4. */
const PRIVATE_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"].map((network) =>
  parsePrefix(network, ipv6Number, 128),
);
/** Names that only a network of one's own resolves. */
const PRIVATE_ENDINGS = /\.(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)$/;

/** The registry in an image's name, `host[:port]` in lower case; undefined for Docker Hub. */
export function registryIn(image: string): string | undefined {
  const slash = image.indexOf("/");
  const first = slash === -1 ? "" : image.slice(0, slash);
  // As engines decide it: a name without these is a repository of Docker Hub.
  const isRegistry = /[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase();
  return isRegistry ? first.toLowerCase() : undefined;
}

/** The host of a registry as programs connect to it: other forms of IPv4 addresses become dotted ones. */
export function hostOfRegistry(registry: string): string {
  const url = `http://${registry}/`;
  // A text that is no host is not on the internet.
  const host = URL.canParse(url) ? new URL(url).hostname : "localhost";
  return host.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/** True when the name alone says that a registry is on the host itself or in its own network. */
export function isPrivateRegistry(registry: string): boolean {
  const host = hostOfRegistry(registry);
  if (IPV4.test(host) || host.includes(":")) return !isInternetAddress(host);
  return !host.includes(".") || PRIVATE_ENDINGS.test(host);
}

/** True for an IP address on the internet. IPv4 addresses in the form of IPv6 ones are not. */
export function isInternetAddress(address: string): boolean {
  const [v4, v6] = [ipv4Number(address), ipv6Number(address)];
  if (v4 !== undefined) return !PRIVATE_IPV4.some((network) => network(v4));
  return v6 !== undefined && GLOBAL_IPV6(v6) && !PRIVATE_IPV6.some((network) => network(v6));
}

/**
 * True when the host's own setting names the registry: with its port, for all of its ports, or `*` for all registries.
 */
export function isRegistryAllowed(registry: string, allowed: readonly string[]): boolean {
  const name = registry.toLowerCase();
  const host = name.replace(/:\d+$/, "");
  return allowed.some((entry) => entry === "*" || entry === name || entry === host);
}

function parsePrefix(network: string, read: (text: string) => bigint | undefined, bits: number) {
  const [base = "", length = ""] = network.split("/");
  const shift = BigInt(bits - Number(length));
  const start = (read(base) ?? 0n) >> shift;
  return (address: bigint) => address >> shift === start;
}

function ipv4Number(text: string): bigint | undefined {
  const parts = IPV4.test(text) ? text.split(".").map(Number) : [];
  if (parts.length !== 4 || parts.some((part) => part > 255)) return undefined;
  return parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function ipv6Number(text: string): bigint | undefined {
  const url = `http://[${text}]/`;
  if (!text.includes(":") || !URL.canParse(url)) return undefined;
  // URLs write IPv6 addresses in groups only, with one gap at most.
  const [head = "", tail] = new URL(url).hostname.slice(1, -1).split("::");
  const groupsOf = (part: string) => (part === "" ? [] : part.split(":"));
  const [before, after] = [groupsOf(head), groupsOf(tail ?? "")];
  const gap = Array<string>(8 - before.length - after.length).fill("0");
  return [...before, ...gap, ...after].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}
