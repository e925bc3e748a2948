import { spawn, type ChildProcess } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Clock } from "../base/clock.ts";

const AGENT_MAIN = path.join(import.meta.dirname, "../../../agent/src/main.ts");
/** The agent's exit code for "this machine cannot be a host": no reason to start it again. */
const CANNOT_HOST = 3;
const RESTART_MS = 1_000;
const STOP_MS = 10_000;

export type AgentOptions = {
  readonly serverUrl: string;
  readonly token: string;
  /** The address that renters reach, and the one that ports are published on. */
  readonly publicIp: string;
  readonly bindAddress: string;
  readonly stateDir: string;
  readonly simulatedHosts: number | undefined;
  readonly declaredGpus: string | undefined;
  readonly logLevel: string;
  /** Lines of the agent for a person. */
  readonly say: (line: string) => void;
};

export type AgentProcess = {
  /** True once the agent gave up because this machine cannot be a host. */
  readonly hasGivenUp: () => boolean;
  stop(): Promise<void>;
};

/**
 * Runs the agent of this machine as a process of its own, as it would run on any other host, and starts it again when it
 * fails. It ends with this process, a `kill -9` included; containers run on either way.
 */
export function startAgentProcess(options: AgentOptions, clock: Clock): AgentProcess {
  const stopping = new AbortController();
  let child: ChildProcess | undefined;
  let hasGivenUp = false;

  const runOnce = () =>
    new Promise<number | null>((resolve) => {
      child = spawn("setpriv", ["--pdeathsig", "TERM", process.execPath, ...agentArguments(options)], {
        // The agent's input ends with this process: nothing else tells that to an agent that became root through sudo.
        stdio: ["pipe", "pipe", "inherit"],
        env: {
          // One arena is enough for a process of few threads: some megabytes less.
          MALLOC_ARENA_MAX: "1",
          ...process.env,
          // The agent runs renters' programs, so it gets no secret that moves money.
          BERTH_STRIPE_SECRET_KEY: undefined,
          BERTH_STRIPE_WEBHOOK_SECRET: undefined,
          BERTH_ACME_EAB_KEY: undefined,
          BERTH_AGENT_TOKEN: options.token,
          BERTH_AGENT_ENDS_WITH_STDIN: "1",
          BERTH_LOG_LEVEL: options.logLevel,
        },
      });
      if (child.stdout) createInterface({ input: child.stdout }).on("line", options.say);
      const { pid } = child;
      child.stdin?.on("error", () => {});
      child.on("error", (error) => {
        // An agent that is root takes no signals from a server that is not.
        if (pid !== undefined) return;
        options.say(`The agent of this machine could not be started: ${error.message}`);
        resolve(CANNOT_HOST);
      });
      child.once("exit", (code) => resolve(code));
    });
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const code = await runOnce();
      if (code === CANNOT_HOST) {
        hasGivenUp = true;
        return;
      }
      await clock.sleep(RESTART_MS, stopping.signal);
    }
  })();

  return {
    hasGivenUp: () => hasGivenUp,
    async stop() {
      stopping.abort();
      child?.stdin?.end();
      child?.kill("SIGTERM");
      const deadline = new AbortController();
      await Promise.race([running, clock.sleep(STOP_MS, deadline.signal)]);
      deadline.abort();
      child?.kill("SIGKILL");
    },
  };
}

function agentArguments(options: AgentOptions): readonly string[] {
  const { serverUrl, publicIp, bindAddress, stateDir, simulatedHosts, declaredGpus } = options;
  return [
    "--disable-warning=ExperimentalWarning",
    // An agent allocates little at a time, and compiles little.
    "--max-semi-space-size=1",
    "--v8-pool-size=1",
    AGENT_MAIN,
    ...["--server", serverUrl, "--public-ip", publicIp, "--bind", bindAddress, "--state-dir", stateDir],
    ...(simulatedHosts === undefined ? [] : ["--simulate", String(simulatedHosts)]),
    ...(declaredGpus === undefined ? [] : ["--declare-gpus", declaredGpus]),
  ];
}
