import { execFile, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { until } from "../until.ts";

const run = promisify(execFile);

/** A network namespace of this machine, connected to it by a pair of virtual interfaces: another machine, to a test. */
export type OtherMachine = {
  readonly name: string;
  /** The addresses of the two ends of the link. */
  readonly address: string;
  readonly gateway: string;
  /** Gives it one more address, which this machine reaches through the link. */
  addAddress(address: string): Promise<void>;
  /** Runs a program there that goes on until the test ends it. */
  start(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess;
  /** Cuts or restores the machine's network link. */
  setLink(state: "up" | "down"): Promise<void>;
  /** Kills at once all programs in its network, and others by id; the network is then as new: no bridges, no rules. */
  losePower(others: readonly number[]): Promise<void>;
  close(): Promise<void>;
};

async function ip(...args: readonly string[]): Promise<void> {
  await run("ip", [...args]);
}

/** Removes machines of a test run that was killed: two links to one subnet would lead packets astray. */
async function removeLeftovers(gateway: string): Promise<void> {
  const { stdout } = await run("ip", ["-o", "addr", "show", "to", `${gateway}/32`]);
  const marks = stdout.matchAll(/ bo-([0-9a-f]{6}) /g);
  for (const [, mark] of marks) {
    const name = `berth-${mark}`;
    for (const id of await processesIn(name)) kill(id);
    await run("ip", ["link", "del", `bo-${mark}`]).catch(() => undefined);
    await ip("netns", "del", name);
  }
}

async function processesIn(name: string): Promise<readonly number[]> {
  const { stdout } = await run("ip", ["netns", "pids", name]);
  return stdout.split("\n").filter(Boolean).map(Number);
}

/** Kills a process; one that has ended meanwhile is no failure. */
function kill(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ESRCH")) throw cause;
  }
}

/** Makes another machine; needs root. `subnet` is the first three numbers of a network that nobody else uses. */
export async function otherMachine(subnet: string): Promise<OtherMachine> {
  const mark = randomBytes(3).toString("hex");
  const name = `berth-${mark}`;
  const [outer, inner] = [`bo-${mark}`, `bi-${mark}`];
  const [gateway, address] = [`${subnet}.1`, `${subnet}.2`];
  const plugIn = async () => {
    await ip("netns", "add", name);
    await ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name);
    await ip("addr", "add", `${gateway}/24`, "dev", outer);
    await ip("link", "set", outer, "up");
    await ip("-n", name, "addr", "add", `${address}/24`, "dev", inner);
    await ip("-n", name, "link", "set", inner, "up");
    await ip("-n", name, "link", "set", "lo", "up");
    await ip("-n", name, "route", "add", "default", "via", gateway);
  };
  const pullOut = async () => {
    await run("ip", ["link", "del", outer]).catch(() => undefined);
    await run("ip", ["netns", "del", name]);
  };
  const processes = () => processesIn(name);
  await removeLeftovers(gateway);
  await plugIn().catch(async (cause: unknown) => {
    await pullOut().catch(() => undefined);
    throw cause;
  });
  const children: ChildProcess[] = [];
  return {
    name,
    address,
    gateway,
    async addAddress(extra) {
      await ip("-n", name, "addr", "add", `${extra}/32`, "dev", "lo");
      await ip("route", "add", `${extra}/32`, "via", address);
    },
    start(program, args, env = process.env) {
      // Only the network is another one: what is mounted there is mounted here, as on one real machine.
      const child = spawn("nsenter", [`--net=/run/netns/${name}`, program, ...args], {
        stdio: "ignore",
        env,
      });
      children.push(child);
      return child;
    },
    setLink: (state) => ip("link", "set", outer, state),
    async losePower(others) {
      for (const id of [...(await processes()), ...others]) kill(id);
      await until("the end of everything there", async () => {
        const late = await processes();
        for (const id of late) kill(id);
        return late.length === 0;
      });
      await pullOut();
      await plugIn();
    },
    async close() {
      for (const child of children) child.kill("SIGKILL");
      for (const id of await processes()) kill(id);
      await pullOut();
    },
  };
}
