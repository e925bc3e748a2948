import { parseArgs } from "node:util";
import { parseDeclaredGpus, type DeclaredModel } from "./declared-gpus.ts";
import type { PortRange } from "./ports.ts";

export type Options = {
  readonly server_url: string;
  readonly token: string;
  /** Undefined: derived from the machine and the state folder. */
  readonly host_key: string | undefined;
  /** 0 means the real engine of this machine. */
  readonly simulate: number;
  readonly declared: readonly DeclaredModel[];
  readonly public_ipaddr: string;
  readonly bind_address: string;
  readonly port_range: PortRange;
  readonly docker_socket: string;
  readonly state_dir: string;
  readonly geolocation: string;
  readonly may_install: boolean;
  readonly log_level: string;
};

export type ParsedOptions =
  | { readonly ok: true; readonly options: Options }
  | { readonly ok: false; readonly problem: string };

const MAX_SIMULATED = 10_000;

export const USAGE = `usage: agent [options]        (each option also as environment variable)
  --server URL          control plane, ws:// or wss://            BERTH_AGENT_SERVER       ws://127.0.0.1:8080/agent
  --host-key KEY        names this machine                        BERTH_AGENT_HOST_KEY     from machine and state folder
  --simulate N          N simulated hosts, no Docker              BERTH_AGENT_SIMULATE     0
  --declare-gpus LIST   pretend GPUs, such as "RTX 4090:2"        BERTH_AGENT_DECLARE_GPUS none
  --public-ip ADDRESS   where renters reach this machine          BERTH_AGENT_PUBLIC_IP    127.0.0.1
  --bind ADDRESS        where ports are published                 BERTH_AGENT_BIND         the public address
  --port-range A-B      external ports for renters                BERTH_AGENT_PORT_RANGE   20000-29999
  --docker-socket PATH  Docker Engine                             BERTH_AGENT_DOCKER_SOCKET /var/run/docker.sock
  --state-dir PATH      notes and logs                            BERTH_AGENT_STATE_DIR    .berth/agent
  --geolocation TEXT    "City, CC"                                BERTH_AGENT_GEOLOCATION  ", US" (unknown)
  --no-install          never install or start Docker             BERTH_AGENT_NO_INSTALL=1
The token comes from BERTH_AGENT_TOKEN only, the log level from BERTH_LOG_LEVEL.`;

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

  const server_url = get("server", "ws://127.0.0.1:8080/agent");
  if (!isWebSocketUrl(server_url)) problems.push("--server must be a ws:// or wss:// URL");
  const token = env["BERTH_AGENT_TOKEN"] ?? "";
  if (!/^[\x21-\x7e]{1,4096}$/.test(token)) problems.push("BERTH_AGENT_TOKEN must hold the token of this agent");
  const host_key = get("host-key", "");
  if (!/^[A-Za-z0-9._-]{0,100}$/.test(host_key))
    problems.push("--host-key: letters, digits, dot, dash, underscore; at most 100");
  const simulate = check(parseCount(get("simulate", "0"), MAX_SIMULATED), `--simulate: 0 to ${MAX_SIMULATED}`, 0);
  const declared = parseDeclaredGpus(get("declare-gpus", ""));
  if (typeof declared === "string") problems.push(`--declare-gpus: ${declared}`);
  const port_range = check(
    parsePortRange(get("port-range", "20000-29999")),
    "--port-range: two ports such as 20000-29999",
    {
      first: 0,
      last: 0,
    },
  );
  const public_ipaddr = get("public-ip", "127.0.0.1");
  if (public_ipaddr === "" || public_ipaddr.length > 64) problems.push("--public-ip must be an address");
  if (problems.length > 0 || typeof declared === "string") return { ok: false, problem: problems.join("; ") };
  return {
    ok: true,
    options: {
      server_url,
      token,
      host_key: host_key === "" ? undefined : host_key,
      simulate,
      declared,
      public_ipaddr,
      bind_address: get("bind", public_ipaddr),
      port_range,
      docker_socket: get("docker-socket", "/var/run/docker.sock"),
      state_dir: get("state-dir", ".berth/agent"),
      geolocation: get("geolocation", ", US").slice(0, 128),
      may_install: !read.no_install && env["BERTH_AGENT_NO_INSTALL"] !== "1",
      log_level: env["BERTH_LOG_LEVEL"] ?? "info",
    },
  };
}

/** Two ports joined by a dash, the first not above the last. */
function parsePortRange(text: string): PortRange | undefined {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text);
  const first = Number(match?.[1]);
  const last = Number(match?.[2]);
  return first >= 1 && first <= last && last <= 65_535 ? { first, last } : undefined;
}

const FLAGS = [
  "server",
  "host-key",
  "simulate",
  "declare-gpus",
  "public-ip",
  "bind",
  "port-range",
  "docker-socket",
  "state-dir",
  "geolocation",
] as const;

function readFlags(argv: readonly string[]): { values: Map<string, string>; no_install: boolean } | string {
  try {
    const options = Object.fromEntries(FLAGS.map((flag) => [flag, { type: "string" as const }]));
    const { values } = parseArgs({
      args: [...argv],
      options: { ...options, "no-install": { type: "boolean" } },
      strict: true,
    });
    const given = new Map<string, string>();
    for (const [flag, value] of Object.entries(values)) if (typeof value === "string") given.set(flag, value);
    return { values: given, no_install: values["no-install"] === true };
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

function parseCount(text: string, limit: number): number | undefined {
  const count = Number(text);
  return /^\d+$/.test(text) && count <= limit ? count : undefined;
}

function isWebSocketUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hash } = new URL(text);
  return (protocol === "ws:" || protocol === "wss:") && hash === "";
}
