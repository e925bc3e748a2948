import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { LABEL_INSTANCE } from "../../../agent/src/instances/identity.ts";
import { cleanEnvironment } from "../berth.ts";
import { loopsOf, mountsBelow, unmountBelow } from "./mounts.ts";
import { otherHost, type OtherHost } from "./other-host.ts";

const BERTH = path.join(import.meta.dirname, "../../../berth");

/** Another machine as its operator has it: a Docker Engine, and an agent that is started with `./berth agent`. */
export type JoinedHost = {
  readonly host: OtherHost;
  readonly address: string;
  readonly stateDir: string;
  /** Output of the agent since its last start. */
  output(): string;
  /** Starts the agent with these words; without any it goes on with its stored credential. */
  startAgent(...words: readonly string[]): void;
  /** True once the agent that was started last has ended. */
  hasAgentEnded(): boolean;
  stopAgent(signal?: NodeJS.Signals): Promise<number | null>;
  /** Another agent there, with a state folder of its own; it ends with the machine at the latest. */
  startSecondAgent(stateDir: string, ...words: readonly string[]): Agent;
  /** Full ids of an instance's containers, running or not. */
  containersOf(instanceId: number): Promise<readonly string[]>;
  containerOf(instanceId: number): Promise<string>;
  inspect(container: string, format: string): Promise<string>;
  /** Runs a shell command in the container of an instance. */
  inside(instanceId: number, command: string): Promise<string>;
  /** Traces of rentals on the machine, container names included. */
  traces(): Promise<Readonly<Record<"containers" | "disks" | "mounts" | "loopDevices", readonly string[]>>>;
  losePower(): Promise<void>;
  /** Starts Docker and agent, as after a boot. */
  boot(): Promise<void>;
  close(): Promise<void>;
};

/** An agent as a process of its own, with what it wrote so far. */
type Agent = { output(): string; hasEnded(): boolean; stop(signal?: NodeJS.Signals): Promise<number | null> };

/** `subnet` is the first three numbers of a network that nobody else uses; `ports` are for its renters. */
export async function joinedHost(subnet: string, ports: string): Promise<JoinedHost> {
  const host = await otherHost(subnet);
  const folder = await mkdtemp(path.join(tmpdir(), "berth-joined-"));
  const stateDir = path.join(folder, "state");
  const agents: Agent[] = [];
  let bootCount = 1;
  let agent: Agent | undefined;

  const start = (state: string, words: readonly string[]): Agent => {
    const flags = ["--state-dir", state, "--docker-socket", host.socket, "--port-range", ports, "--no-install"];
    const [program = "", ...rest] = [...host.prefix, BERTH, "agent", ...words, ...flags];
    // All machines run on one kernel, so its boot id does not tell their boots apart.
    const env = cleanEnvironment({ BERTH_LOG_LEVEL: "info", BERTH_AGENT_BOOT_ID: `boot-${bootCount}` });
    const started = agentOf(spawn(program, rest, { env, stdio: ["ignore", "pipe", "pipe"] }));
    agents.push(started);
    return started;
  };
  const containersOf = async (id: number) =>
    lines(await host.docker("ps", "-aq", "--no-trunc", "--filter", `label=${LABEL_INSTANCE}=${id}`));
  const containerOf = async (id: number) => {
    const [only, ...more] = await containersOf(id);
    if (only === undefined || more.length > 0) throw new Error(`instance ${id} has not one container`);
    return only;
  };
  return {
    host,
    address: host.machine.address,
    stateDir,
    output: () => agent?.output() ?? "",
    startAgent(...words) {
      agent = start(stateDir, words);
    },
    hasAgentEnded: () => agent?.hasEnded() ?? false,
    stopAgent: async (signal) => (await agent?.stop(signal)) ?? null,
    startSecondAgent: (state, ...words) => start(state, words),
    containersOf,
    containerOf,
    inspect: (container, format) => host.docker("inspect", "-f", format, container),
    inside: async (id, command) => host.docker("exec", await containerOf(id), "sh", "-c", command),
    traces: async () => ({
      containers: lines(await host.docker("ps", "-a", "--format", "{{.Names}}")),
      disks: await readdir(path.join(stateDir, "disks")).catch(() => []),
      mounts: await mountsBelow(stateDir),
      loopDevices: await loopsOf(stateDir),
    }),
    async losePower() {
      await host.losePower();
      await unmountBelow(stateDir);
    },
    async boot() {
      bootCount += 1;
      await host.startDocker();
      agent = start(stateDir, []);
    },
    async close() {
      await Promise.all(agents.map((each) => each.stop("SIGKILL")));
      const running = lines(await host.docker("ps", "-q").catch(() => ""));
      if (running.length > 0) await host.docker("kill", ...running).catch(() => "");
      // A container cannot be removed while a disk is mounted over its layer.
      await unmountBelow(folder);
      await host.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function agentOf(child: ChildProcess): Agent {
  let output = "";
  const note = (chunk: Buffer) => (output += chunk.toString());
  child.stdout?.on("data", note);
  child.stderr?.on("data", note);
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    output: () => output,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return ended;
    },
  };
}

function lines(text: string): readonly string[] {
  return text.split("\n").filter(Boolean);
}
