import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { LABEL_HOST, LABEL_INSTANCE } from "../../../agent/src/instances/identity.ts";
import { cleanEnvironment, discard, NO_LIMITS, startBerth, type Berth } from "../berth.ts";
import { docker } from "../hosts/docker.ts";
import { removeRemains } from "../hosts/host-remains.ts";
import { loopsOf, mountsBelow } from "../hosts/mounts.ts";
import { networkTracesOf } from "../hosts/this-machine.ts";
import { until } from "../until.ts";

const BERTH = path.join(import.meta.dirname, "../../../berth");
const PORTS_PER_HOST = 40;
/** GPUs of a machine: enough for all workers of a test. */
const GPUS = "RTX 4090:4";

/** Traces of rentals on the hosts: all lists are empty when nobody rents. */
export type Remains = Readonly<Record<"containers" | "mounts" | "loopDevices", readonly string[]>>;

export const NO_REMAINS: Remains = { containers: [], mounts: [], loopDevices: [] };

/**
 * A server and several hosts with declared GPUs, so that a worker that fails on one machine can be replaced on another.
 * They are agents of their own that share this machine's engine, and its addresses: each has its ports, network and disks.
 */
export type EndpointMarket = {
  readonly berth: Berth;
  /** Full ids of an instance's containers, running or not. */
  containers(instanceId: number): Promise<readonly string[]>;
  remains(): Promise<Remains>;
  /** Ends the agents as an operator does, and returns what is left of their networks and firewall rules. */
  leave(): Promise<readonly string[]>;
  close(): Promise<void>;
};

type Host = { readonly key: string; readonly stateDir: string; readonly agent: ChildProcess };

/** `firstPort` begins forty ports for each host that nobody else uses. */
export async function startEndpointMarket(hostCount: number, firstPort: number): Promise<EndpointMarket> {
  const cleanups = new AsyncDisposableStack();
  try {
    const folder = await mkdtemp(path.join(tmpdir(), "berth-market-"));
    cleanups.defer(() => rm(folder, { recursive: true, force: true }));
    const berth = await startBerth({ args: ["--no-agent"], env: NO_LIMITS });
    cleanups.defer(() => discard(berth));
    const hosts: Host[] = [];
    for (let index = 0; index < hostCount; index += 1) {
      const first = firstPort + index * PORTS_PER_HOST;
      const host = await join(berth, path.join(folder, `host-${index + 1}`), `${first}-${first + PORTS_PER_HOST - 1}`);
      cleanups.defer(() => end(host, "SIGKILL").then(() => removeRemains(host.key, host.stateDir)));
      hosts.push(host);
    }
    return describe({ berth, hosts, folder, close: () => cleanups.disposeAsync() });
  } catch (cause) {
    await cleanups.disposeAsync();
    throw cause;
  }
}

function describe({
  berth,
  hosts,
  folder,
  close,
}: Pick<EndpointMarket, "berth" | "close"> & {
  readonly hosts: readonly Host[];
  readonly folder: string;
}): EndpointMarket {
  const containers = async (...labels: readonly string[]) => {
    const filters = labels.flatMap((label) => ["--filter", `label=${label}`]);
    return lines(await docker("ps", "-aq", "--no-trunc", ...filters));
  };
  const ofHosts = async (...labels: readonly string[]) =>
    (await Promise.all(hosts.map(({ key }) => containers(`${LABEL_HOST}=${key}`, ...labels)))).flat();
  return {
    berth,
    close,
    containers: (id) => ofHosts(`${LABEL_INSTANCE}=${id}`),
    remains: async () => ({
      containers: await ofHosts(),
      mounts: await mountsBelow(folder),
      loopDevices: await loopsOf(folder),
    }),
    async leave() {
      await Promise.all(hosts.map((host) => end(host, "SIGTERM")));
      return (await Promise.all(hosts.map(({ key }) => networkTracesOf(key)))).flat();
    },
  };
}

/** Does what operators do: makes a token, and types the printed command. */
async function join(berth: Berth, stateDir: string, ports: string): Promise<Host> {
  const known = await hostKeys(berth);
  const { stdout } = await berth.cli("host", "token", "create");
  const words = /^ {2}\.\/berth agent (--server \S+ --token \S+)$/m.exec(stdout)?.[1]?.split(" ");
  if (words === undefined) throw new Error(`no command to join with: ${stdout}`);
  const flags = ["--state-dir", stateDir, "--port-range", ports, "--declare-gpus", GPUS, "--no-install"];
  const agent = spawn(BERTH, ["agent", ...words, ...flags], {
    env: cleanEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [agent.stdout, agent.stderr]) stream.on("data", (chunk: Buffer) => (output += String(chunk)));
  try {
    const key = await until("another machine", async () => {
      const found = (await hostKeys(berth)).find((each) => !known.includes(each));
      if (found === undefined) throw new Error(output);
      return found;
    });
    // Its address is private: the operator has to answer for it before requests are sent there.
    const [machine] = await berth.sql("select id from machines where host_key = $1", [key]);
    await berth.cli("admin", "verify-machine", String(machine?.["id"]), "verified");
    return { key, stateDir, agent };
  } catch (cause) {
    agent.kill("SIGKILL");
    throw cause;
  }
}

async function hostKeys(berth: Berth): Promise<readonly string[]> {
  const rows = await berth.sql("select host_key from machines where is_connected order by id");
  return rows.map((row) => String(row["host_key"]));
}

function end({ agent }: Host, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (agent.exitCode !== null || agent.signalCode !== null) return resolve();
    agent.once("close", () => resolve());
    agent.kill(signal);
  });
}

function lines(text: string): readonly string[] {
  return text.split("\n").filter(Boolean);
}
