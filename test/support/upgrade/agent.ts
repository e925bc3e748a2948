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
  stop(): Promise<void>;
};

/** Starts `./berth agent --simulate`, joined with a token of the administrator; it knows all servers that live. */
export async function startAgent(server: Berth, { hosts }: { readonly hosts: number }): Promise<AgentChild> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-agent-"));
  const stateDir = path.join(folder, "state");
  const made = await server.call("POST", "/api/v0/hosts/tokens/", { key: server.adminKey, body: {} });
  const words = ["--server", server.url, "--token", String(made.body.token), "--state-dir", stateDir];
  const child = spawn(BERTH, ["agent", "--simulate", String(hosts), ...words], {
    env: cleanEnvironment({ BERTH_LOG_LEVEL: "info" }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const ended = once(child, "close");
  return {
    stateDir,
    output: () => output,
    async stop() {
      child.kill("SIGTERM");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
