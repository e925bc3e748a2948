import { createHash } from "node:crypto";
import type { PortRange } from "../instances/ports.ts";

/** One agent's network on an engine that it may share with others; bridge names have room for 15 characters. */
export type NetworkNames = {
  readonly network: string;
  readonly bridge: string;
  readonly input: string;
  readonly forward: string;
};

/** Names made from the host key, so that two agents on one engine never touch each other's network or rules. */
export function networkNames(hostKey: string): NetworkNames {
  const mark = createHash("sha256").update(hostKey).digest("hex").slice(0, 8);
  return {
    network: `berth-${mark}`,
    bridge: `berth-${mark}`,
    input: `BERTH-IN-${mark}`,
    forward: `BERTH-OUT-${mark}`,
  };
}

export type RuleInput = {
  readonly names: NetworkNames;
  /** External ports of renters: open to everybody, so to renters of this host too. */
  readonly portRange: PortRange;
  /** Addresses of the host's name servers, which may lie in a private network. */
  readonly resolvers: readonly string[];
  /** The relay to the server, the one service of the host that containers may reach. */
  readonly relay: { readonly address: string; readonly port: number } | undefined;
};

/**
 * Networks that are not the internet: those of the host's operator, the metadata services of clouds, multicast and
 * reserved space (RFC 1918, 3927, 5737 excepted, 5771, 6598, 6890).
 */
const PRIVATE_NETWORKS = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "224.0.0.0/4",
  "240.0.0.0/4",
] as const;

const CONNECTION = "-m conntrack --ctstate";

/**
 * Rules for the reach of this network's containers, as input of `iptables-restore --noflush`, which replaces the two
 * chains at once: the internet; the host's own addresses only at renters' ports and at the relay; other containers, the
 * host's local networks and metadata addresses not at all. Answers to connections from outside pass.
 */
export function ipv4Rules({ names, portRange, resolvers, relay }: RuleInput): string {
  const { bridge, input, forward } = names;
  const ports = `${portRange.first}:${portRange.last}`;
  const dns = resolvers.filter((address) => /^\d+(\.\d+){3}$/.test(address) && !address.startsWith("127."));
  const lines = [
    "*filter",
    `:${input} - [0:0]`,
    `:${forward} - [0:0]`,
    `-A ${input} ${CONNECTION} ESTABLISHED,RELATED -j ACCEPT`,
    `-A ${input} -p tcp --dport ${ports} -j ACCEPT`,
    `-A ${input} -p udp --dport ${ports} -j ACCEPT`,
    ...(relay ? [`-A ${input} -d ${relay.address} -p tcp --dport ${relay.port} -j ACCEPT`] : []),
    `-A ${input} -j DROP`,
    `-A ${forward} ${CONNECTION} ESTABLISHED,RELATED -j RETURN`,
    // A renter's port of this host, reached through the host's own address.
    `-A ${forward} -o ${bridge} ${CONNECTION} DNAT -j RETURN`,
    `-A ${forward} -o ${bridge} -j DROP`,
    ...dns.flatMap((address) =>
      ["udp", "tcp"].map((protocol) => `-A ${forward} -d ${address} -p ${protocol} --dport 53 -j RETURN`),
    ),
    ...PRIVATE_NETWORKS.map((network) => `-A ${forward} -d ${network} -j DROP`),
    "COMMIT",
  ];
  return `${lines.join("\n")}\n`;
}

/** Rules for IPv6: the network has none, and packets of containers by link-local addresses are dropped. */
export function ipv6Rules({ input, forward }: NetworkNames): string {
  return `${["*filter", `:${input} - [0:0]`, `:${forward} - [0:0]`, `-A ${input} -j DROP`, `-A ${forward} -j DROP`, "COMMIT"].join("\n")}\n`;
}

/** The name servers that `resolv.conf` names. */
export function readResolvers(text: string): readonly string[] {
  return [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map((match) => match[1] ?? "");
}
