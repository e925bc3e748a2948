import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { backOffDelay } from "../base/back-off.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { deriveHostKey, loadSecret, type HostKey } from "./host-keys.ts";
import type { AgentMessage, DoorOrder, SshMessage } from "./messages.ts";

/** A running container that its owner may enter. */
export type Door = {
  readonly instanceId: number;
  readonly containerId: string;
  /** The host's path of the container's network namespace. */
  readonly namespacePath: string;
  /** External port of 22/tcp on the bind address; null when only the control plane's proxy leads to it. */
  readonly port: number | null;
  readonly authorizedKeys: readonly string[];
  /** True for a door that opens to the user of copies alone, as before an image's own entrypoint. */
  readonly isForCopies: boolean;
};

export type SshService = {
  /** Starts the process ahead of the first door, which then need not wait for it. */
  expectDoor(): void;
  /** All doors there are. A container that runs again is a new door: its connections are closed. */
  setDoors(doors: readonly Door[]): void;
  /** The public host key as it stands in known_hosts: `ssh-ed25519 AAAA…`. */
  hostKey(instanceId: number): string;
  /**
   * Serves the client at the other end of a WebSocket as if it had connected to the door. A session key logs in as root
   * through this tunnel alone.
   */
  connectTunnel(instanceId: number, url: string, token: string, sessionKey?: string): void;
  close(): void;
};

export type SshServiceInput = {
  readonly dockerSocket: string;
  readonly bindAddress: string;
  readonly stateDir: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
};

const MAIN = join(import.meta.dirname, "main.ts");
const START_AGAIN = { firstMs: 100, limitMs: 10_000 };
/** A process that ran this long has not failed at its start. */
const STEADY_MS = 60_000;

/**
 * Runs the SSH server in a process of its own, started for the first door and again whenever it ends. It ends with
 * this process, a `kill -9` included.
 */
export function createSshService(input: SshServiceInput): SshService {
  const { clock, log } = input;
  const secret = loadSecret(input.stateDir);
  const hostKeys = new Map<number, HostKey>();
  const closing = new AbortController();
  let doors: readonly DoorOrder[] = [];
  let child: ChildProcess | undefined;
  let isWanted = false;

  const hostKeyOf = (instanceId: number) => {
    const known = hostKeys.get(instanceId);
    if (known !== undefined) return known;
    const key = deriveHostKey(secret, instanceId);
    hostKeys.set(instanceId, key);
    return key;
  };
  const send = (message: AgentMessage) => {
    // A process that is about to end gets no more messages; the next one gets all doors at its start.
    if (child?.connected === true) child.send(message, () => undefined);
  };
  const runOnce = () =>
    new Promise<string>((resolve) => {
      const started = startProcess(input.stateDir);
      child = started;
      started.on("message", ({ level, fields, message }: SshMessage) =>
        log[level]({ ...fields, part: "ssh" }, message),
      );
      started.once("error", (cause) => resolve(cause.message));
      started.once("exit", (code, signal) => resolve(String(signal ?? code)));
      send({ kind: "begin", dockerSocket: input.dockerSocket, bindAddress: input.bindAddress });
      send({ kind: "doors", doors });
    });
  const keepRunning = async () => {
    for (let attempt = 0; !closing.signal.aborted; attempt += 1) {
      const startedMs = clock.monotonicMs();
      const ending = await runOnce();
      child = undefined;
      if (closing.signal.aborted) return;
      if (clock.monotonicMs() - startedMs > STEADY_MS) attempt = 0;
      log.warn({ ending, attempt }, "the ssh process has ended and is started again");
      await clock.sleep(backOffDelay(START_AGAIN, attempt, input.random()), closing.signal);
    }
  };

  const begin = () => {
    if (isWanted || closing.signal.aborted) return;
    isWanted = true;
    void keepRunning();
  };

  return {
    expectDoor: begin,
    setDoors: (wanted) => {
      doors = wanted.map((door) => ({ ...door, hostKey: hostKeyOf(door.instanceId).privatePem }));
      const ids = new Set(doors.map(({ instanceId }) => instanceId));
      for (const instanceId of hostKeys.keys()) if (!ids.has(instanceId)) hostKeys.delete(instanceId);
      if (isWanted) send({ kind: "doors", doors });
      else if (doors.length > 0) begin();
    },
    hostKey: (instanceId) => hostKeyOf(instanceId).publicText,
    connectTunnel: (instanceId, url, token, sessionKey) => send({ kind: "tunnel", instanceId, url, token, sessionKey }),
    close: () => {
      closing.abort();
      child?.kill("SIGTERM");
    },
  };
}

function startProcess(stateDirectory: string): ChildProcess {
  const node = [
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    "--max-semi-space-size=2",
    "--v8-pool-size=1",
    MAIN,
  ];
  // Renters talk to this process, so it does not get the agent's credential.
  const { BERTH_AGENT_TOKEN: _token, ...env } = process.env;
  return spawn("setpriv", ["--pdeathsig", "TERM", ...node], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    // With a compile cache the compiler is not loaded: 18 MB less, here and in the helpers.
    env: { MALLOC_ARENA_MAX: "1", ...env, NODE_COMPILE_CACHE: join(stateDirectory, "compile-cache") },
  });
}
