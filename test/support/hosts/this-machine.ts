import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { LABEL_HOST, LABEL_INSTANCE } from "../../../agent/src/instances/identity.ts";
import { networkNames } from "../../../agent/src/network/rules.ts";
import { NO_LIMITS, removeDataDir, startBerth, type Berth } from "../berth.ts";
import { busyboxImage, docker } from "./docker.ts";
import { freePort } from "../network/free-port.ts";
import { removeRemains } from "./host-remains.ts";
import { loopsOf, mountsBelow } from "./mounts.ts";
import { until } from "../until.ts";

const run = promisify(execFile);
const DIRECT_PORT_COUNT = 60;
const PROXY_PORT_COUNT = 40;

/** Traces of rentals on this machine at present: the lists are empty when nobody rents it. */
export type Traces = {
  readonly containers: readonly string[];
  readonly docker_volumes: readonly string[];
  readonly mounts: readonly string[];
  readonly loop_devices: readonly string[];
  readonly files: readonly string[];
  readonly ports: readonly number[];
};

export const NO_TRACES: Traces = {
  containers: [],
  docker_volumes: [],
  mounts: [],
  loop_devices: [],
  files: [],
  ports: [],
};

/** A Berth that offers this machine with its Docker Engine, on ports that no other test uses. */
export type ThisMachine = {
  /** The server that runs now. */
  berth(): Berth;
  readonly image: string;
  readonly machineId: number;
  /** Starts it again on the same data and address, as an operator would after a crash; with another database if one is given. */
  startAgain(databaseUrl?: string): Promise<void>;
  /** Full ids of an instance's containers, running or not. */
  containers(instanceId: number): Promise<readonly string[]>;
  containerOf(instanceId: number): Promise<string>;
  traces(): Promise<Traces>;
  /** Network and firewall rules, which the agent keeps while it runs. */
  networkTraces(): Promise<readonly string[]>;
  close(): Promise<void>;
};

/**
 * `firstPort` begins a hundred ports that nobody else uses, below those that the system gives out itself. Without an address
 * the database is the server's own.
 */
export async function startThisMachine(
  firstPort: number,
  env: Readonly<Record<string, string>> = {},
  firstDatabaseUrl?: string,
): Promise<ThisMachine> {
  const image = await busyboxImage();
  const firstProxyPort = firstPort + DIRECT_PORT_COUNT;
  const endPort = firstProxyPort + PROXY_PORT_COUNT;
  const environment = {
    ...NO_LIMITS,
    BERTH_AGENT_PORT_RANGE: `${firstPort}-${firstProxyPort - 1}`,
    BERTH_PROXY_PORTS: `${firstProxyPort}-${endPort - 1}`,
    ...env,
  };
  const port = await freePort();
  const at = (databaseUrl: string | undefined) => (databaseUrl === undefined ? {} : { databaseUrl });
  let berth = await startBerth({ port, env: environment, ...at(firstDatabaseUrl) });
  const { dataDir } = berth;
  const machine = await until("this machine on the market", async () => {
    const machines = await berth.sql("select id, host_key from machines where is_connected");
    return machines.length === 1 && machines[0];
  });
  const hostKey = String(machine["host_key"]);
  const stateDir = path.join(dataDir, "agent");
  const containers = async (...labels: readonly string[]) => {
    const filters = [`${LABEL_HOST}=${hostKey}`, ...labels].flatMap((label) => ["--filter", `label=${label}`]);
    return lines(await docker("ps", "-aq", "--no-trunc", ...filters));
  };
  const ofInstance = (id: number) => containers(`${LABEL_INSTANCE}=${id}`);
  return {
    berth: () => berth,
    image,
    machineId: Number(machine["id"]),
    containers: ofInstance,
    async startAgain(databaseUrl = firstDatabaseUrl) {
      berth = await startBerth({ dataDir, port, env: environment, ...at(databaseUrl) });
    },
    async containerOf(id) {
      const [found, ...more] = await ofInstance(id);
      if (found === undefined || more.length > 0) throw new Error(`instance ${id} has not one container`);
      return found;
    },
    traces: async () => ({
      containers: await containers(),
      docker_volumes: await dockerVolumesIn(stateDir),
      mounts: await mountsBelow(stateDir),
      loop_devices: await loopsOf(stateDir),
      files: await filesIn(stateDir, ["disks", "volumes", "mounts", "network-volumes"]),
      ports: await listeningPorts(firstPort, endPort),
    }),
    networkTraces: () => networkTracesOf(hostKey),
    async close() {
      await berth.stop();
      await removeRemains(hostKey, dataDir);
      await removeDataDir(dataDir);
    },
  };
}

/** Docker volumes that an image's own VOLUMEs have become. */
async function dockerVolumesIn(folder: string): Promise<readonly string[]> {
  const names = lines(await docker("volume", "ls", "-q"));
  const devices = await Promise.all(
    // Volumes of other tests come and go meanwhile.
    names.map((name) => docker("volume", "inspect", "-f", "{{.Options.device}}", name).catch(() => "")),
  );
  return names.filter((_, index) => devices[index]?.startsWith(`${folder}/`));
}

async function filesIn(folder: string, names: readonly string[]): Promise<readonly string[]> {
  const found = names.map(async (name) => {
    const entries = await readdir(path.join(folder, name)).catch(() => []);
    return entries.map((entry) => `${name}/${entry}`);
  });
  return (await Promise.all(found)).flat();
}

/** Listening ports from the first up to, not including, the last. */
async function listeningPorts(first: number, end: number): Promise<readonly number[]> {
  const { stdout } = await run("ss", ["--no-header", "--listening", "--numeric", "--tcp", "--udp"]);
  const ports = lines(stdout).map((line) => Number(/:(\d+)\s/.exec(line)?.[1]));
  return [...new Set(ports.filter((port) => port >= first && port < end))];
}

/** Names of an agent's networks, interfaces and firewall rules. */
export async function networkTracesOf(hostKey: string): Promise<readonly string[]> {
  const names = networkNames(hostKey);
  const networks = lines(await docker("network", "ls", "--format", "{{.Name}}"));
  const rules = await Promise.all(["iptables-save", "ip6tables-save"].map(async (save) => (await run(save)).stdout));
  const interfaces = await readdir("/sys/class/net");
  return [...networks, ...interfaces, ...rules.flatMap(lines)].filter((trace) =>
    Object.values(names).some((name) => trace.includes(name)),
  );
}

function lines(text: string): readonly string[] {
  return text.split("\n").filter(Boolean);
}
