import { readFile } from "node:fs/promises";
import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";

const LOOPBACK = "127.0.0.1";
/** Speed of a plain connection, for interfaces that do not tell theirs. */
const UNKNOWN_LINK_MBPS = 100;

/** The interface that leads out, by `/proc/net/route`: of several the one with the lowest metric. */
export function defaultInterface(routes: string): string | undefined {
  const leading = routes
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, destination, , , , , , mask]) => destination === "00000000" && mask === "00000000")
    .toSorted((a, b) => Number(a[6] ?? 0) - Number(b[6] ?? 0));
  return leading[0]?.[0];
}

export type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** The address at which others on the network reach this machine; undefined when it has none that leads out. */
export function outerAddress(routes: string, interfaces: Interfaces): string | undefined {
  const own = interfaces[defaultInterface(routes) ?? ""] ?? [];
  return own.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
}

/** The address that renters are told when the host gives none: a server on this very machine is for this machine. */
export async function ownAddress(serverUrl: string): Promise<string> {
  const { hostname } = new URL(serverUrl);
  if (/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) return LOOPBACK;
  return outerAddress(await readText("/proc/net/route"), networkInterfaces()) ?? LOOPBACK;
}

/** The address on which ports are published: that which renters are told, or all when that is a router's. */
export function bindAddressFor(publicIpaddr: string, interfaces: Interfaces = networkInterfaces()): string {
  const own = Object.values(interfaces).flatMap((list) => list ?? []);
  const isOwn = own.some(({ address }) => address === publicIpaddr) || publicIpaddr.startsWith("127.");
  return isOwn ? publicIpaddr : "0.0.0.0";
}

/** Megabits per second of the interface that leads out. The uplink behind it may be slower: only its host knows. */
export async function linkMbps(): Promise<number> {
  const name = defaultInterface(await readText("/proc/net/route"));
  if (name === undefined) return UNKNOWN_LINK_MBPS;
  return parseLinkSpeed(await readText(`/sys/class/net/${name}/speed`));
}

/**
 * The speed that an interface reports, in megabits per second; the plain speed for virtual ones, which report -1 or
 * nothing.
 */
export function parseLinkSpeed(text: string): number {
  const mbps = Number(text.trim());
  return Number.isFinite(mbps) && mbps > 0 ? mbps : UNKNOWN_LINK_MBPS;
}

function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
