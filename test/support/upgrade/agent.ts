// The agent of some simulated hosts, as a process of its own that joined a server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { cleanEnvironment, type Berth } from "../berth.ts";

const BERTH = path.join(import.meta.dirname, "../../../berth");

export type AgentChild = {
  readonly stateDir: string;
  output(): string;
  /** Ends it and starts it again, as its service manager would. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

type AgentOptions = {
  readonly hosts: number;
  /** Further words of the command line, and variables of its environment. */
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** Starts `./berth agent --simulate`, joined with a token of the administrator; it knows all servers that live. */
export async function startAgent(
  server: Berth,
  { hosts, words: more = [], env = {} }: AgentOptions,
): Promise<AgentChild> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-agent-"));
  const stateDir = path.join(folder, "state");
  const made = await server.call("POST", "/api/v0/hosts/tokens/", { key: server.adminKey, body: {} });
  const words = ["--server", server.url, "--token", String(made.body.token), "--state-dir", stateDir];
  let output = "";
  const run = () => {
    const child = spawn(BERTH, ["agent", "--simulate", String(hosts), ...words, ...more], {
      env: cleanEnvironment({ BERTH_LOG_LEVEL: "info", ...env }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    }
    return { child, ended: once(child, "close") };
  };
  let running = run();
  const end = async () => {
    running.child.kill("SIGTERM");
    await running.ended;
  };
  return {
    stateDir,
    output: () => output,
    async restart() {
      await end();
      running = run();
    },
    async stop() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
