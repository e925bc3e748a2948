import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { docker, OPEN_HOST } from "../../test/support/hosts/docker.ts";
import { removeRemains } from "../../test/support/hosts/host-remains.ts";
import { LABEL_HOST, LABEL_INSTANCE } from "../src/instances/identity.ts";
import { FakeServer, TOKEN } from "./fake-server.ts";

const MAIN = join(import.meta.dirname, "../src/main.ts");

/** The agent as it runs on a host, with this machine's Docker Engine, in the hands of a test that plays the server. */
export class RealAgent {
  readonly server: FakeServer;
  readonly hostKey: string;
  readonly stateDir: string;
  readonly #flags: readonly string[];
  readonly #prefix: readonly string[];
  #child: ChildProcess | undefined;

  /** `prefix` are words before the program: a command that runs it elsewhere. */
  static async start(
    hostKey: string,
    flags: readonly string[],
    { prefix = [], server }: { prefix?: readonly string[]; server?: FakeServer } = {},
  ): Promise<RealAgent> {
    const stateDir = await mkdtemp(join(tmpdir(), "berth-agent-"));
    const agent = new RealAgent(server ?? (await FakeServer.listen()), hostKey, stateDir, flags, prefix);
    await removeRemains(hostKey, stateDir);
    agent.spawn();
    return agent;
  }

  private constructor(
    server: FakeServer,
    hostKey: string,
    stateDir: string,
    flags: readonly string[],
    prefix: readonly string[],
  ) {
    this.#prefix = prefix;
    this.server = server;
    this.hostKey = hostKey;
    this.stateDir = stateDir;
    this.#flags = flags;
  }

  spawn(): void {
    const { server, hostKey, stateDir } = this;
    const args = ["--server", server.url, "--host-key", hostKey, "--state-dir", stateDir, "--no-install"];
    const env = {
      ...OPEN_HOST,
      MALLOC_ARENA_MAX: "1",
      ...process.env,
      BERTH_AGENT_TOKEN: TOKEN,
      BERTH_LOG_LEVEL: "warn",
    };
    const node = [process.execPath, "--max-semi-space-size=1", "--v8-pool-size=1"];
    const [program = "", ...words] = [...this.#prefix, ...node, MAIN, ...args, ...this.#flags];
    this.#child = spawn(program, words, {
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  /** The id of the one container of an instance. */
  async containerOf(instanceId: number): Promise<string> {
    const filters = [`label=${LABEL_HOST}=${this.hostKey}`, `label=${LABEL_INSTANCE}=${instanceId}`];
    return docker("ps", "-aq", "--no-trunc", ...filters.flatMap((filter) => ["--filter", filter]));
  }

  async close(): Promise<void> {
    await this.kill("SIGKILL");
    await this.server.close();
    await removeRemains(this.hostKey, this.stateDir);
    await rm(this.stateDir, { recursive: true, force: true });
  }
}
