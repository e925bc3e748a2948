import { execFile, spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { busyboxImage, docker } from "../../test/support/hosts/docker.ts";
import { freePort } from "../../test/support/network/free-port.ts";
import { until } from "../../test/support/until.ts";
import { systemClock } from "../src/base/clock.ts";
import { silentLog, type Log } from "../src/base/log.ts";
import { createSshService, type Door, type SshService } from "../src/ssh/service.ts";
import { prepareToolbox, TOOLBOX_PATH } from "../src/machine/toolbox.ts";

const run = promisify(execFile);
const LABEL = "berth-test.ssh";

export type Ran = { readonly code: number | null; readonly stdout: Buffer; readonly stderr: string };
export type Door22 = Door & { readonly port: number };

/** A folder with keys, a toolbox and a service, for tests with OpenSSH's own client against real containers. */
export class SshPlace implements AsyncDisposable {
  readonly folder: string;
  readonly label: string;
  readonly toolbox: string;
  readonly key: string;
  service: SshService;
  readonly logged: { level: string; message: string; fields: object }[] = [];
  readonly #children = new Set<ChildProcessWithoutNullStreams>();

  private constructor(folder: string, toolbox: string) {
    this.folder = folder;
    this.label = folder;
    this.toolbox = toolbox;
    this.key = join(folder, "id_ed25519");
    this.service = this.createService();
  }

  static async make(): Promise<SshPlace> {
    const folder = await mkdtemp(join(tmpdir(), "berth-ssh-"));
    const prepared = await prepareToolbox({ stateDir: join(folder, "state") });
    if (!prepared.ok) throw new Error(prepared.problem);
    const place = new SshPlace(folder, prepared.toolbox.directory);
    await place.makeKey("id_ed25519");
    return place;
  }

  createService(): SshService {
    const note = (level: string) => (fields: object, message: string) =>
      void this.logged.push({ level, message, fields });
    const log: Log = { ...silentLog, info: note("info"), warn: note("warn") };
    return createSshService({
      dockerSocket: "/var/run/docker.sock",
      bindAddress: "127.0.0.1",
      stateDir: join(this.folder, "state"),
      clock: systemClock,
      random: Math.random,
      log,
    });
  }

  /** The public half. */
  async makeKey(name: string, ...options: readonly string[]): Promise<string> {
    const path = join(this.folder, name);
    await run("ssh-keygen", [
      "-q",
      "-N",
      "",
      "-C",
      name,
      "-f",
      path,
      ...(options.length > 0 ? options : ["-t", "ed25519"]),
    ]);
    return this.publicKey(name);
  }

  publicKey(name = "id_ed25519"): Promise<string> {
    return readFile(join(this.folder, `${name}.pub`), "utf8");
  }

  /** Starts a container as the agent would and describes the way into it. */
  async container(
    instanceId: number,
    options: { image?: string; args?: readonly string[]; words?: readonly string[] } = {},
  ): Promise<Door22> {
    const image = options.image ?? (await busyboxImage());
    const mount = `type=bind,src=${this.toolbox},dst=${TOOLBOX_PATH},readonly`;
    const limits = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--init"];
    const label = ["--label", `${LABEL}=${this.label}`];
    const rest = options.args ?? [];
    const id = await docker(
      "run",
      "-d",
      ...label,
      ...limits,
      "--mount",
      mount,
      ...rest,
      image,
      ...(options.words ?? []),
    );
    return this.door(instanceId, id);
  }

  async door(instanceId: number, containerId: string): Promise<Door22> {
    const format = "{{.NetworkSettings.SandboxKey}} {{.NetworkSettings.IPAddress}}";
    const [namespacePath = ""] = (await docker("inspect", "-f", format, containerId)).split(" ");
    const authorizedKeys = [await this.publicKey()];
    return { instanceId, containerId, namespacePath, port: await freePort(), authorizedKeys, isForCopies: false };
  }

  /** Opens exactly these doors and waits until they answer. */
  async open(...doors: readonly Door22[]): Promise<void> {
    this.service.setDoors(doors);
    for (const door of doors) await this.untilOpen(door);
  }

  async untilOpen({ instanceId, port }: Door22): Promise<void> {
    const known = `[127.0.0.1]:${port} ${this.service.hostKey(instanceId)}\n`;
    await mkdir(join(this.folder, "known"), { recursive: true });
    await writeFile(join(this.folder, "known", String(port)), known);
    await until("the port answers", async () => (await this.hostKeyAt(port)) !== "");
  }

  async hostKeyAt(port: number): Promise<string> {
    const scanned = await run("ssh-keyscan", ["-T", "60", "-t", "ed25519", "-p", String(port), "127.0.0.1"]);
    return (
      scanned.stdout
        .split("\n")
        .find((line) => line.startsWith("[127"))
        ?.split(" ")
        .slice(1)
        .join(" ") ?? ""
    );
  }

  /** Options for every call of OpenSSH's clients. Host keys are checked. */
  options(door: Door22): readonly string[] {
    const set = {
      ...{ BatchMode: "yes", IdentitiesOnly: "yes", IdentityFile: this.key, ConnectTimeout: "120", LogLevel: "ERROR" },
      ...{ UserKnownHostsFile: join(this.folder, "known", String(door.port)), StrictHostKeyChecking: "yes" },
      ...{ GlobalKnownHostsFile: "/dev/null" },
    };
    return ["-F", "/dev/null", ...Object.entries(set).flatMap(([name, value]) => ["-o", `${name}=${value}`])];
  }

  ssh(door: Door22, args: readonly string[], input: Buffer | string | undefined = ""): Promise<Ran> {
    return this.runToEnd("ssh", [...this.options(door), "-p", String(door.port), "root@127.0.0.1", ...args], input);
  }

  /** Runs the client with options of its own before the host. */
  sshWith(door: Door22, options: readonly string[], args: readonly string[], input = ""): Promise<Ran> {
    const all = [...options, ...this.options(door), "-p", String(door.port), "root@127.0.0.1", ...args];
    return this.runToEnd("ssh", all, input);
  }

  start(program: string, args: readonly string[]): ChildProcessWithoutNullStreams {
    const child = spawn(program, [...args], {
      env: { PATH: process.env["PATH"], TERM: "xterm-256color", LANG: "C.UTF-8" },
    });
    this.#children.add(child);
    child.once("exit", () => this.#children.delete(child));
    child.stdin.on("error", () => undefined);
    return child;
  }

  startSsh(door: Door22, options: readonly string[], args: readonly string[]): ChildProcessWithoutNullStreams {
    return this.start("ssh", [...options, ...this.options(door), "-p", String(door.port), "root@127.0.0.1", ...args]);
  }

  /** An undefined input is left open. */
  async runToEnd(program: string, args: readonly string[], input: Buffer | string | undefined = ""): Promise<Ran> {
    const child = this.start(program, args);
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (data: Buffer) => stdout.push(data));
    child.stderr.on("data", (data: Buffer) => stderr.push(data));
    if (input !== undefined) child.stdin.end(input);
    const [code] = await once(child, "close");
    return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
  }

  /** Number and words of all processes in a container. */
  async processes(door: Door): Promise<readonly string[]> {
    return (await docker("top", door.containerId, "-eo", "pid,args")).split("\n").slice(1);
  }

  /** The process id of the SSH process that this service runs. */
  async pid(): Promise<number> {
    const main = join(import.meta.dirname, "../src/ssh/main.ts");
    const children = (await readFile(`/proc/self/task/${process.pid}/children`, "utf8")).trim().split(" ");
    for (const child of children) {
      const words = await readFile(`/proc/${child}/cmdline`, "utf8").catch(() => "");
      if (words.split("\0").includes(main)) return Number(child);
    }
    throw new Error("there is no ssh process");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    this.service.close();
    await until("the ssh process ends", () =>
      this.pid().then(
        () => false,
        () => true,
      ),
    );
    const ids = (await docker("ps", "-aq", "--filter", `label=${LABEL}=${this.label}`)).split("\n").filter(Boolean);
    if (ids.length > 0) await docker("rm", "-f", "-v", ...ids);
    await rm(this.folder, { recursive: true, force: true });
  }
}
