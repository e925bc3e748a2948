import { execFile, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { busyboxImage } from "./docker.ts";
import { unmountBelow } from "./mounts.ts";
import { otherMachine, type OtherMachine } from "./netns.ts";
import { until } from "../until.ts";

const run = promisify(execFile);

/** Another machine with a Docker Engine of its own, which a test may stop and kill without harm to others. */
export type OtherHost = {
  readonly machine: OtherMachine;
  readonly socket: string;
  /** Words before a program that make it run there. */
  readonly prefix: readonly string[];
  docker(...args: readonly string[]): Promise<string>;
  stopDocker(signal: NodeJS.Signals): Promise<void>;
  startDocker(): Promise<void>;
  /** Ends all programs there at once, containers included; data that was only in memory is lost. */
  losePower(): Promise<void>;
  close(): Promise<void>;
};

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A host with this machine's test image. `subnet` is the first three numbers of a network that nobody else uses. */
export async function otherHost(subnet: string): Promise<OtherHost> {
  const image = await busyboxImage();
  const machine = await otherMachine(subnet);
  const folder = await mkdtemp(join(tmpdir(), "berth-host-"));
  const socket = join(folder, "docker.sock");
  let daemon: ChildProcess | undefined;
  const docker = async (...args: readonly string[]) =>
    (await run("docker", ["-H", `unix://${socket}`, ...args], { maxBuffer: 2 ** 24 })).stdout.trim();

  const startDocker = async () => {
    const folders = ["--data-root", join(folder, "data"), "--exec-root", join(folder, "exec")];
    const rest = ["--pidfile", join(folder, "pid"), "--host", `unix://${socket}`, "--log-level", "fatal"];
    daemon = machine.start("dockerd", [...folders, ...rest]);
    await until("the other machine's engine", () =>
      docker("info").then(
        () => true,
        () => false,
      ),
    );
  };
  const stopDocker = async (signal: NodeJS.Signals) => {
    if (!daemon || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const ended = once(daemon, "exit");
    process.kill(Number(await readFile(join(folder, "pid"), "utf8")), signal);
    await ended;
    // A service manager would have ended its containerd with it; the containers themselves run on.
    if (signal !== "SIGKILL") return;
    const containerd = Number(await readFile(join(folder, "exec/containerd/containerd.pid"), "utf8"));
    process.kill(containerd, signal);
    await until("the end of containerd", () => !isAlive(containerd));
  };
  const close = async () => {
    try {
      const left = (await docker("ps", "-aq").catch(() => "")).split("\n").filter(Boolean);
      if (left.length > 0) await docker("rm", "-f", "-v", ...left);
      await stopDocker("SIGTERM");
    } finally {
      await machine.close();
      await unmountBelow(folder);
      await rm(folder, { recursive: true, force: true });
    }
  };
  try {
    await startDocker();
    await run("sh", ["-c", `docker save ${image} | docker -H unix://${socket} load`]);
  } catch (cause) {
    await close();
    throw cause;
  }
  return {
    machine,
    socket,
    prefix: ["nsenter", `--net=/run/netns/${machine.name}`],
    docker,
    stopDocker,
    startDocker,
    async losePower() {
      const running = (await docker("ps", "-q")).split("\n").filter(Boolean);
      const format = ["-f", "{{.State.Pid}}"];
      const ids = running.length === 0 ? [] : (await docker("inspect", ...format, ...running)).split("\n").map(Number);
      await machine.losePower(ids);
      await unmountBelow(folder);
      for (const name of ["exec", "pid", "docker.sock"]) await rm(join(folder, name), { recursive: true, force: true });
    },
    close,
  };
}
