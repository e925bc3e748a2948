import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { backOffDelay } from "../base/back-off.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { deriveHostKey, loadSecret, type HostKey } from "./host-keys.ts";
import type { AgentMessage, DoorOrder, SshMessage } from "./messages.ts";

/** A running container that its owner may enter. */
export type Door = {
  readonly instance_id: number;
  readonly container_id: string;
  /** The host's path of the container's network namespace. */
  readonly namespace_path: string;
  /** External port of 22/tcp on the bind address; null when only the control plane's proxy leads to it. */
  readonly port: number | null;
  readonly authorized_keys: readonly string[];
};

export type SshService = {
  /** Says that a door is to be expected, so that nobody waits for the process when it comes. */
  expectDoor(): void;
  /** All doors there are. A container that runs anew is a new door: its connections are closed. */
  setDoors(doors: readonly Door[]): void;
  /** The public host key as it stands in known_hosts: `ssh-ed25519 AAAA…`. */
  hostKey(instance_id: number): string;
  /** Serves the client at the other end of a WebSocket as if it had connected to the door. */
  connectTunnel(instance_id: number, url: string, token: string): void;
  close(): void;
};

export type SshServiceInput = {
  readonly docker_socket: string;
  readonly bind_address: string;
  readonly state_dir: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
};

const MAIN = join(import.meta.dirname, "main.ts");
const START_AGAIN = { first_ms: 100, limit_ms: 10_000 };
/** A process that ran this long has not failed at its start. */
const STEADY_MS = 60_000;

/**
 * Runs the SSH server in a process of its own, started for the first door and again whenever it ends. It ends with
 * this process, a `kill -9` included.
 */
export function createSshService(input: SshServiceInput): SshService {
  const { clock, log } = input;
  const secret = loadSecret(input.state_dir);
  const host_keys = new Map<number, HostKey>();
  const closing = new AbortController();
  let doors: readonly DoorOrder[] = [];
  let child: ChildProcess | undefined;
  let isWanted = false;

  const hostKeyOf = (instance_id: number) => {
    const known = host_keys.get(instance_id);
    if (known !== undefined) return known;
    const key = deriveHostKey(secret, instance_id);
    host_keys.set(instance_id, key);
    return key;
  };
  const send = (message: AgentMessage) => {
    // A process that is about to end gets nothing more; the next one gets all doors at its start.
    if (child?.connected === true) child.send(message, () => undefined);
  };
  const runOnce = () =>
    new Promise<string>((resolve) => {
      const started = startProcess(input.state_dir);
      child = started;
      started.on("message", ({ level, fields, message }: SshMessage) =>
        log[level]({ ...fields, part: "ssh" }, message),
      );
      started.once("error", (cause) => resolve(cause.message));
      started.once("exit", (code, signal) => resolve(String(signal ?? code)));
      send({ kind: "begin", docker_socket: input.docker_socket, bind_address: input.bind_address });
      send({ kind: "doors", doors });
    });
  const keepRunning = async () => {
    for (let attempt = 0; !closing.signal.aborted; attempt += 1) {
      const started_ms = clock.monotonicMs();
      const ending = await runOnce();
      child = undefined;
      if (closing.signal.aborted) return;
      if (clock.monotonicMs() - started_ms > STEADY_MS) attempt = 0;
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
      doors = wanted.map(({ instance_id, container_id, namespace_path, port, authorized_keys }) => {
        const host_key = hostKeyOf(instance_id).private_pem;
        return { instance_id, container_id, namespace_path, port, authorized_keys, host_key };
      });
      const ids = new Set(doors.map(({ instance_id }) => instance_id));
      for (const instance_id of host_keys.keys()) if (!ids.has(instance_id)) host_keys.delete(instance_id);
      if (isWanted) send({ kind: "doors", doors });
      else if (doors.length > 0) begin();
    },
    hostKey: (instance_id) => hostKeyOf(instance_id).public_text,
    connectTunnel: (instance_id, url, token) => send({ kind: "tunnel", instance_id, url, token }),
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
  // Renters talk to it: what only the agent needs to know stays with the agent.
  const { BERTH_AGENT_TOKEN: _token, ...env } = process.env;
  return spawn("setpriv", ["--pdeathsig", "TERM", ...node], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    // With what was compiled before, the compiler is not even loaded: 18 MB less, here and in the helpers.
    env: { MALLOC_ARENA_MAX: "1", ...env, NODE_COMPILE_CACHE: join(stateDirectory, "compile-cache") },
  });
}
