import { spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";

/** The machine as the preparation sees it; a test answers in its place. */
export type Machine = {
  /** Resolves to true when an engine answers on the socket. */
  readonly doesAnswer: () => Promise<boolean>;
  readonly isFound: (program: string) => boolean;
  /** True when the program of a package is there. */
  readonly hasTool: (tool: Tool) => boolean;
  readonly isRoot: () => boolean;
  /** True when systemd runs as process 1. */
  readonly hasSystemd: () => boolean;
  /** Runs a program to its end; the exit code, with everything printed appended to the log in the state folder. */
  readonly run: (program: string, args: readonly string[]) => Promise<number>;
  /** Starts a program in a session of its own, which outlives this process. */
  readonly spawnDetached: (program: string, args: readonly string[]) => void;
};

export type Preparation = { readonly ok: true } | { readonly ok: false; readonly problem: string };

const START_ATTEMPTS = 150;
const ATTEMPT_MS = 200;

/** A program that the agent needs beside Docker, and Debian's package that brings it. */
export type Tool = {
  readonly package: string;
  /** The program's path; a name without a slash is looked for in the folders of programs. */
  readonly program: string;
  /** True for a program that runs inside containers, without the host's libraries. */
  readonly mustBeStatic?: true;
};
const TOOLS: readonly Tool[] = [
  // The small init that shell containers run under.
  { package: "tini", program: "tini" },
  { package: "iptables", program: "iptables" },
  // Disks of instances, and volumes.
  { package: "e2fsprogs", program: "mkfs.ext4" },
  // Programs that a renter finds in a container with any image: a shell, sftp, rsync.
  { package: "busybox-static", program: "busybox", mustBeStatic: true },
  { package: "openssh-sftp-server", program: "/usr/lib/openssh/sftp-server" },
  { package: "rsync", program: "rsync" },
];

/**
 * Sees to it that Docker Engine answers and that the tools beside it are there: starts an installed engine, installs
 * Debian's packages where apt-get exists, when this process is root or may become it without a password. A tool that
 * cannot be had is named and no reason to give up: what needs it says so when it is asked for. `tell` gets lines for a
 * person.
 */
export async function prepareDocker(input: {
  readonly machine: Machine;
  readonly clock: Clock;
  readonly mayInstall: boolean;
  readonly tell: (line: string) => void;
}): Promise<Preparation> {
  const { machine, tell } = input;
  if (await machine.doesAnswer()) {
    await installTools(input);
    return { ok: true };
  }
  const isInstalled = machine.isFound("dockerd");
  const missing = isInstalled ? "Docker Engine is installed but does not answer" : "Docker Engine is not installed";
  if (!input.mayInstall) return { ok: false, problem: `${missing}, and this agent was told to leave that to you` };
  const prefix = await becomeRoot(machine);
  if (!prefix)
    return { ok: false, problem: `${missing}, and this user is neither root nor has sudo without a password` };
  if (!isInstalled) {
    const problem = await installDocker(machine, prefix, tell);
    if (problem !== undefined) return { ok: false, problem };
  } else await installTools(input);
  if (await machine.doesAnswer()) return { ok: true };
  await start(machine, prefix, tell);
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt += 1) {
    if (await machine.doesAnswer()) {
      tell("Docker Engine answers");
      return { ok: true };
    }
    await input.clock.sleep(ATTEMPT_MS);
  }
  return { ok: false, problem: "Docker Engine was started but does not answer; see docker.log in the state folder" };
}

/** The words to put before a command so that root runs it; undefined when that is not possible. */
async function becomeRoot(machine: Machine): Promise<readonly string[] | undefined> {
  if (machine.isRoot()) return [];
  if (!machine.isFound("sudo")) return undefined;
  return (await machine.run("sudo", ["-n", "true"])) === 0 ? ["sudo", "-n"] : undefined;
}

async function installTools({ machine, mayInstall, tell }: Parameters<typeof prepareDocker>[0]): Promise<void> {
  const packages = missingPackages(machine);
  if (packages.length === 0) return;
  const missing = `missing beside Docker Engine: ${packages.join(" ")}`;
  const prefix = mayInstall && machine.isFound("apt-get") ? await becomeRoot(machine) : undefined;
  if (!prefix) return tell(`${missing}; install them, or some of what renters ask for will not work`);
  tell(`${missing}; installing them`);
  const { code } = await aptInstall(machine, prefix, packages);
  if (code !== 0) tell("they could not be installed; see docker.log in the state folder");
}

function missingPackages(machine: Machine): readonly string[] {
  return TOOLS.filter((tool) => !machine.hasTool(tool)).map((tool) => tool.package);
}

async function aptInstall(
  machine: Machine,
  prefix: readonly string[],
  packages: readonly string[],
): Promise<{ readonly update: number; readonly code: number }> {
  const environment = ["env", "DEBIAN_FRONTEND=noninteractive"];
  const update = await runAs(machine, prefix, [...environment, "apt-get", "-q", "update"]);
  const flags = ["-q", "-y", "--no-install-recommends"];
  const code = await runAs(machine, prefix, [...environment, "apt-get", "install", ...flags, ...packages]);
  return { update, code };
}

async function installDocker(
  machine: Machine,
  prefix: readonly string[],
  tell: (line: string) => void,
): Promise<string | undefined> {
  if (!machine.isFound("apt-get")) {
    return "Docker Engine is not installed, and this system has no apt-get: install Docker Engine and start again";
  }
  const packages = ["docker.io", ...missingPackages(machine)];
  tell(`installing Docker Engine: apt-get install ${packages.join(" ")} (about 300 MB on disk)`);
  const { update, code } = await aptInstall(machine, prefix, packages);
  if (code === 0) return undefined;
  const first = update === 0 ? "" : "the package lists could not be fetched, and ";
  return `${first}apt-get could not install Docker Engine; see docker.log in the state folder`;
}

async function start(machine: Machine, prefix: readonly string[], tell: (line: string) => void): Promise<void> {
  if (machine.hasSystemd()) {
    tell("starting Docker Engine: systemctl start docker");
    await runAs(machine, prefix, ["systemctl", "start", "docker"]);
    return;
  }
  tell("starting Docker Engine: dockerd, in the background");
  const [program, ...args] = [...prefix, "dockerd"];
  machine.spawnDetached(program, args);
}

function runAs(machine: Machine, prefix: readonly string[], words: readonly string[]): Promise<number> {
  const [program = "", ...args] = [...prefix, ...words];
  return machine.run(program, args);
}

const PROGRAM_FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"] as const;

/** The machine that this process runs on. */
export function realMachine(input: {
  readonly stateDir: string;
  readonly doesAnswer: () => Promise<boolean>;
}): Machine {
  const openLog = () => {
    mkdirSync(input.stateDir, { recursive: true });
    return openSync(join(input.stateDir, "docker.log"), "a", 0o600);
  };
  return {
    doesAnswer: input.doesAnswer,
    isFound: (program) => PROGRAM_FOLDERS.some((folder) => existsSync(join(folder, program))),
    hasTool: ({ program, mustBeStatic }) => {
      const paths = program.includes("/") ? [program] : PROGRAM_FOLDERS.map((folder) => join(folder, program));
      return paths.some((path) => existsSync(path) && (mustBeStatic !== true || isStatic(path)));
    },
    isRoot: () => process.getuid?.() === 0,
    hasSystemd: () => existsSync("/run/systemd/system"),
    run: (program, args) =>
      new Promise((resolve) => {
        const log = openLog();
        const child = spawn(program, [...args], { stdio: ["ignore", log, log] });
        closeSync(log);
        child.once("error", () => resolve(127));
        child.once("exit", (code) => resolve(code ?? 1));
      }),
    spawnDetached: (program, args) => {
      const log = openLog();
      const child = spawn(program, [...args], { stdio: ["ignore", log, log], detached: true });
      closeSync(log);
      // A daemon that cannot even be started does not answer, and that is what is waited for.
      child.once("error", () => undefined);
      child.unref();
    },
  };
}

const PROGRAM_HEADERS_AT = 32;
const HEADER_SIZE_AT = 54;
const HEADER_COUNT_AT = 56;
const INTERPRETER = 3;

/** True for a 64-bit little-endian ELF program that names no loader: all that it needs is in its own file. */
export function isStatic(path: string): boolean {
  const file = readFileSync(path);
  if (file.length < 64 || file.toString("latin1", 0, 6) !== "\x7fELF\x02\x01") return false;
  const start = Number(file.readBigUInt64LE(PROGRAM_HEADERS_AT));
  const size = file.readUInt16LE(HEADER_SIZE_AT);
  for (let index = 0; index < file.readUInt16LE(HEADER_COUNT_AT); index += 1) {
    const at = start + index * size;
    if (at + 4 > file.length || file.readUInt32LE(at) === INTERPRETER) return false;
  }
  return true;
}
