import { parseArgs } from "node:util";
import { parseServerUrl, SERVER_ADDRESSES_MAX, type ServerUrls } from "../../protocol/index.ts";
import { parseDeclaredGpus, type DeclaredModel } from "./machine/declared-gpus.ts";
import type { PortRange } from "./instances/ports.ts";

export type Options = {
  /** The first address that was given: a machine joins there. */
  readonly urls: ServerUrls;
  /** Further addresses of the same installation. */
  readonly furtherUrls: readonly ServerUrls[];
  /** A file with further roots that certificates of servers may come from. */
  readonly caFile: string | undefined;
  /** True when the server was named, and not left to the default. */
  readonly hasServer: boolean;
  /** The token of an agent that a server starts itself; undefined for a machine that joins or has joined. */
  readonly token: string | undefined;
  /** The token that is exchanged for a credential, once. */
  readonly joinToken: string | undefined;
  /** Join and end, without serving. */
  readonly isJoinOnly: boolean;
  /** The machine's name; undefined when it is to be derived from the machine and the state folder. */
  readonly hostKey: string | undefined;
  /** Number of simulated hosts; 0 for the real engine of this machine. */
  readonly simulate: number;
  /** GPUs of each simulated host; 0 for as many as such machines have. */
  readonly simulateGpus: number;
  readonly declared: readonly DeclaredModel[];
  /** Public address that the host gives; empty for the address of the interface that leads to the server. */
  readonly publicIpaddr: string;
  /** Address on which ports are published; empty for the public address, or for all when that is a router's. */
  readonly bindAddress: string;
  /** The uplink's speed as the host declares it, in megabits per second. */
  readonly inetUpMbps: number | undefined;
  readonly inetDownMbps: number | undefined;
  readonly portRange: PortRange;
  readonly dockerSocket: string;
  readonly stateDir: string;
  /** Name of this boot of the machine; undefined for the kernel's own. */
  readonly bootId: string | undefined;
  /** Registries in this machine's own network that renters' images may come from and go to. */
  readonly allowedRegistries: readonly string[];
  /** Images of this machine's owner that renters may use. */
  readonly localImages: readonly string[];
  readonly geolocation: string;
  readonly mayInstall: boolean;
  /** Take newer versions of the agent from the server at which this machine joined. */
  readonly updatesItself: boolean;
  readonly logLevel: string;
};

export type ParsedOptions =
  | { readonly ok: true; readonly options: Options }
  | { readonly ok: false; readonly problem: string };

const MAX_SIMULATED = 10_000;
/** GPUs of one simulated host at most, as many as a hello may name. */
const MAX_SIMULATED_GPUS = 64;
const MAX_MBPS = 1_000_000;
const DEFAULT_SERVER = "http://127.0.0.1:8080";
/** A token that can stand in a header. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;
const MAX_REGISTRIES = 64;
const REGISTRIES_PROBLEM = `--allow-registries: up to ${MAX_REGISTRIES} of host, host:port or *, apart by commas`;
const GPUS_PROBLEM = `--simulate-gpus: 0 to ${MAX_SIMULATED_GPUS}`;
const HOST_KEY = /^[A-Za-z0-9._-]{0,100}$/;
const REGISTRY = /^(?:\*|[a-z0-9._-]{1,253}(?::\d{1,5})?|\[[0-9a-f:.]{2,45}\](?::\d{1,5})?)$/;
const BOOT_ID = /^[A-Za-z0-9-]{1,64}$/;

export const USAGE = `usage: berth agent [options]        (each option also as environment variable)
  --server URL[,URL…]   control plane, such as https://host       BERTH_AGENT_SERVER       http://127.0.0.1:8080
  --ca-file PATH        roots in PEM that servers may have        BERTH_AGENT_CA_FILE      those of this system
  --token TOKEN         join token, for the first start           BERTH_AGENT_JOIN_TOKEN   none
  --join-only           join and end, without serving
  --host-key KEY        names this machine                        BERTH_AGENT_HOST_KEY     from machine and state folder
  --simulate N          N simulated hosts, no Docker              BERTH_AGENT_SIMULATE     0
  --simulate-gpus N     GPUs of each of them, 0 for a mix         BERTH_AGENT_SIMULATE_GPUS 0
  --declare-gpus LIST   pretend GPUs, such as "RTX 4090:2"        BERTH_AGENT_DECLARE_GPUS none
  --public-ip ADDRESS   where renters reach this machine          BERTH_AGENT_PUBLIC_IP    of the interface that leads out
  --bind ADDRESS        where ports are published                 BERTH_AGENT_BIND         the public address
  --port-range A-B      external ports for renters                BERTH_AGENT_PORT_RANGE   20000-29999
  --inet-up MBPS        what the uplink sends, in Mbit/s          BERTH_AGENT_INET_UP      speed of the interface
  --inet-down MBPS      what the uplink receives, in Mbit/s       BERTH_AGENT_INET_DOWN    speed of the interface
  --docker-socket PATH  Docker Engine                             BERTH_AGENT_DOCKER_SOCKET /var/run/docker.sock
  --state-dir PATH      notes and logs                            BERTH_AGENT_STATE_DIR    .berth/agent
  --allow-registries LIST  registries in this network for renters BERTH_AGENT_ALLOW_REGISTRIES none
  --local-images LIST   images made here that renters may use     BERTH_AGENT_LOCAL_IMAGES none
  --geolocation TEXT    "City, CC"                                BERTH_AGENT_GEOLOCATION  ", US" (unknown)
  --self-upgrade        take newer agents from the server         BERTH_AGENT_SELF_UPGRADE=1
  --no-install          never install or start Docker             BERTH_AGENT_NO_INSTALL=1
A machine joins once, with a token from \`berth host token create\`; its credential then is in the state folder.
The log level comes from BERTH_LOG_LEVEL. As a service: berth agent install | status | uninstall.`;

/** Reads the command line and the environment; the command line wins. A mistake is a value that names the option. */
export function parseOptions(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ParsedOptions {
  const read = readFlags(argv);
  if (typeof read === "string") return { ok: false, problem: read };
  const get = (flag: string, fallback: string) =>
    read.values.get(flag) ?? env[`BERTH_AGENT_${flag.toUpperCase().replaceAll("-", "_")}`] ?? fallback;
  const problems: string[] = [];
  const check = <T>(value: T | undefined, problem: string, fallback: T): T => {
    if (value === undefined) problems.push(problem);
    return value ?? fallback;
  };

  const server = get("server", "");
  const [urls, ...furtherUrls] = check(
    parseServers(server === "" ? DEFAULT_SERVER : server),
    `--server must be the address of the control plane, such as https://host:8080; up to ${SERVER_ADDRESSES_MAX} by commas`,
    [{ apiUrl: "", socketUrl: "" }],
  );
  const token = env["BERTH_AGENT_TOKEN"] || undefined;
  if (!TOKEN.test(token ?? "none")) problems.push("BERTH_AGENT_TOKEN must hold the token of this agent");
  const joinToken = read.values.get("token") ?? (env["BERTH_AGENT_JOIN_TOKEN"] || undefined);
  if (!TOKEN.test(joinToken ?? "none")) problems.push("--token must be a join token");
  const bootId = env["BERTH_AGENT_BOOT_ID"] || undefined;
  if (bootId !== undefined && !BOOT_ID.test(bootId)) problems.push("BERTH_AGENT_BOOT_ID: 1 to 64 letters, digits, -");
  const hostKey = get("host-key", "");
  if (!HOST_KEY.test(hostKey)) problems.push("--host-key: letters, digits, dot, dash, underscore; at most 100");
  const simulate = check(parseCount(get("simulate", "0"), MAX_SIMULATED), `--simulate: 0 to ${MAX_SIMULATED}`, 0);
  const simulateGpus = check(parseCount(get("simulate-gpus", "0"), MAX_SIMULATED_GPUS), GPUS_PROBLEM, 0);
  const declared = parseDeclaredGpus(get("declare-gpus", ""));
  if (typeof declared === "string") problems.push(`--declare-gpus: ${declared}`);
  const givenRange = parsePortRange(get("port-range", "20000-29999"));
  const portRange = check(givenRange, "--port-range: two ports such as 20000-29999", { first: 0, last: 0 });
  const publicIpaddr = get("public-ip", "");
  if (publicIpaddr.length > 64) problems.push("--public-ip must be an address");
  for (const flag of ["inet-up", "inet-down"]) {
    check(parseMbps(get(flag, "") || "1"), `--${flag}: megabits per second, 1 to ${MAX_MBPS}`, 0);
  }
  const allowedRegistries = check(parseRegistries(get("allow-registries", "")), REGISTRIES_PROBLEM, []);
  if (problems.length > 0 || typeof declared === "string") return { ok: false, problem: problems.join("; ") };
  return {
    ok: true,
    options: {
      ...{ urls, furtherUrls, hasServer: server !== "", caFile: get("ca-file", "") || undefined },
      token,
      joinToken,
      isJoinOnly: read.isJoinOnly,
      hostKey: hostKey === "" ? undefined : hostKey,
      ...{ simulate, simulateGpus, declared },
      publicIpaddr,
      bindAddress: get("bind", ""),
      inetUpMbps: parseMbps(get("inet-up", "")),
      inetDownMbps: parseMbps(get("inet-down", "")),
      portRange,
      dockerSocket: get("docker-socket", "/var/run/docker.sock"),
      stateDir: get("state-dir", ".berth/agent"),
      bootId,
      allowedRegistries,
      localImages: parseList(get("local-images", "")),
      geolocation: get("geolocation", ", US").slice(0, 128),
      updatesItself: read.updatesItself || env["BERTH_AGENT_SELF_UPGRADE"] === "1",
      mayInstall: !read.noInstall && env["BERTH_AGENT_NO_INSTALL"] !== "1",
      logLevel: env["BERTH_LOG_LEVEL"] ?? "info",
    },
  };
}

/** The servers of a list with commas; undefined when one of them is no address. */
function parseServers(text: string): readonly [ServerUrls, ...ServerUrls[]] | undefined {
  const parts = text.split(",").map((part) => part.trim());
  const [first, ...rest] = parts.flatMap((part) => parseServerUrl(part) ?? []);
  const isWhole = first !== undefined && rest.length === parts.length - 1 && parts.length <= SERVER_ADDRESSES_MAX;
  return isWhole ? [first, ...rest] : undefined;
}

/** Two ports joined by a dash, the first not above the last. */
function parsePortRange(text: string): PortRange | undefined {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text);
  const first = Number(match?.[1]);
  const last = Number(match?.[2]);
  return first >= 1 && first <= last && last <= 65_535 ? { first, last } : undefined;
}

function parseRegistries(text: string): readonly string[] | undefined {
  const names = parseList(text.toLowerCase());
  return names.every((name) => REGISTRY.test(name)) && names.length <= MAX_REGISTRIES ? names : undefined;
}

/** The parts of a list with commas, without blanks. */
function parseList(text: string): readonly string[] {
  return text.split(",").flatMap((part) => part.trim() || []);
}

const FLAGS = [
  "server",
  "ca-file",
  "token",
  "host-key",
  "simulate",
  "simulate-gpus",
  "declare-gpus",
  "public-ip",
  "bind",
  "port-range",
  "inet-up",
  "inet-down",
  "docker-socket",
  "state-dir",
  "allow-registries",
  "local-images",
  "geolocation",
] as const;

type Flags = {
  readonly values: Map<string, string>;
  readonly noInstall: boolean;
  readonly isJoinOnly: boolean;
  readonly updatesItself: boolean;
};

function readFlags(argv: readonly string[]): Flags | string {
  try {
    const options = Object.fromEntries(FLAGS.map((flag) => [flag, { type: "string" as const }]));
    const { values } = parseArgs({
      args: [...argv],
      options: {
        ...options,
        "no-install": { type: "boolean" },
        "join-only": { type: "boolean" },
        "self-upgrade": { type: "boolean" },
      },
      strict: true,
    });
    const given = new Map<string, string>();
    for (const [flag, value] of Object.entries(values)) if (typeof value === "string") given.set(flag, value);
    return {
      values: given,
      noInstall: values["no-install"] === true,
      isJoinOnly: values["join-only"] === true,
      updatesItself: values["self-upgrade"] === true,
    };
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

/** Megabits per second; undefined for a text that is no rate. */
function parseMbps(text: string): number | undefined {
  const mbps = Number(text);
  return /^\d{1,7}(\.\d{1,3})?$/.test(text) && mbps >= 1 && mbps <= MAX_MBPS ? mbps : undefined;
}

function parseCount(text: string, limit: number): number | undefined {
  const count = Number(text);
  return /^\d+$/.test(text) && count <= limit ? count : undefined;
}
