import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { UserError } from "../../failure.ts";

/** Options of all commands about the service: the root of the system, and the state folder of the agent. */
export type ServiceOptions = { readonly root: string; readonly stateDir: string };

export const UNIT = "berth-agent.service";
const ENVIRONMENT_FILE = "/etc/berth/agent.env";
const DOCKER_SOCKET = "/var/run/docker.sock";
const DOCKER_LIMIT_MS = 5_000;

export function isRunningSystem({ root }: ServiceOptions): boolean {
  return path.resolve(root) === "/";
}

export function unitPath({ root }: ServiceOptions): string {
  return path.join(path.resolve(root), "etc/systemd/system", UNIT);
}

/** The agent's folder as this process sees it. */
export function stateFolder({ root, stateDir }: ServiceOptions): string {
  return path.join(path.resolve(root), stateDir);
}

/** Refuses to change the running system without root or without a running systemd. */
export function requireSystem(options: ServiceOptions): void {
  if (!path.isAbsolute(options.stateDir)) {
    throw new UserError("--state-dir must be an absolute path.", "Leave it out for /var/lib/berth-agent.", 2);
  }
  if (!isRunningSystem(options)) return;
  if (process.getuid?.() !== 0) {
    throw new UserError("A service belongs to the system, and you are not root.", "Run this with sudo.");
  }
  if (!existsSync("/run/systemd/system")) {
    const suggestion = "Run `./berth agent` in the foreground, under the service manager of this system.";
    throw new UserError("systemd does not run this system.", suggestion);
  }
}

export type UnitInput = {
  /** Program and arguments, with absolute paths. */
  readonly command: readonly string[];
  readonly documentation: string;
};

/**
 * The unit of the service. Each of systemd's Protect…, Private… and …Paths settings would give the agent a mount
 * namespace of its own, and the disks that it mounts for containers would be invisible to Docker; filters of system
 * calls for namespaces, devices and modes would break its own work.
 */
export function unitText({ command, documentation }: UnitInput): string {
  return `[Unit]
Description=Berth host agent
Documentation=${pathToUrl(documentation)}
After=network-online.target docker.service
Wants=network-online.target docker.service
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${command.map(quoteForUnit).join(" ")}
Environment=MALLOC_ARENA_MAX=1
EnvironmentFile=-${ENVIRONMENT_FILE}
Restart=always
RestartSec=5
# A wrong option, and a machine that has not joined, are not mended by starting again.
RestartPreventExitStatus=2 4
# Containers outlive the agent: the next one takes them over.
KillMode=process
TimeoutStopSec=30
LimitNOFILE=1048576
TasksMax=infinity
OOMScoreAdjust=-500
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
SystemCallArchitectures=native
CapabilityBoundingSet=~CAP_SYS_BOOT CAP_SYS_TIME CAP_WAKE_ALARM

[Install]
WantedBy=multi-user.target
`;
}

/** One word of a command line as systemd reads it: its own specifiers and variables are taken out of it. */
export function quoteForUnit(word: string): string {
  const plain = word.replaceAll("%", "%%").replaceAll("$", "$$$$");
  if (/^[A-Za-z0-9_@%$+=:,./-]+$/.test(plain)) return plain;
  return `"${plain.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;
}

function pathToUrl(file: string): string {
  return `file://${encodeURI(file).replaceAll("%", "%%")}`;
}

export type Answer = { readonly code: number; readonly output: string };

/** Runs systemctl for the system of the options. */
export function systemctl(options: ServiceOptions, ...args: readonly string[]): Promise<Answer> {
  const where = isRunningSystem(options) ? [] : [`--root=${path.resolve(options.root)}`];
  return new Promise((resolve, reject) => {
    execFile("systemctl", [...where, ...args], (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim();
      if (error === null) return resolve({ code: 0, output });
      if (typeof error.code === "number") return resolve({ code: error.code, output });
      reject(new UserError(`systemctl cannot be run: ${error.message}`, "The service needs systemd.", 1));
    });
  });
}

/** Runs systemctl and throws unless it succeeds. */
export async function requireSystemctl(options: ServiceOptions, ...args: readonly string[]): Promise<void> {
  const { code, output } = await systemctl(options, ...args);
  if (code !== 0)
    throw new UserError(`systemctl ${args.join(" ")} failed: ${output}`, "See `journalctl -u berth-agent`.");
}

/** The stored credential of a machine that has joined; undefined when it has not. */
export type Joined = { readonly server: string; readonly host_key: string; readonly joined_at: string };

export function readJoined(options: ServiceOptions): Joined | undefined {
  const file = path.join(stateFolder(options), "credential.json");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "EACCES") throw new UserError(`${file} cannot be read with your permissions.`, "Run this with sudo.");
    throw error;
  }
  const value: unknown = JSON.parse(text);
  const { server, host_key, joined_at } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof server !== "string" || typeof host_key !== "string") return undefined;
  return { server, host_key, joined_at: typeof joined_at === "string" ? joined_at : "" };
}

export type Rentals = { readonly running: number; readonly stopped: number };

/** Containers of rentals on this machine; undefined when Docker does not answer. */
export async function countRentals(hostKey: string): Promise<Rentals | undefined> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`berth.host_key=${hostKey}`] }));
  const answer = await askDocker(`/containers/json?all=true&filters=${filters}`);
  if (!Array.isArray(answer)) return undefined;
  const states = answer.map((container: { readonly State?: unknown }) => container.State);
  const running = states.filter((state) => state === "running" || state === "paused" || state === "restarting").length;
  return { running, stopped: states.length - running };
}

function askDocker(target: string): Promise<unknown> {
  const socketPath = process.env["BERTH_AGENT_DOCKER_SOCKET"] ?? DOCKER_SOCKET;
  return new Promise((resolve) => {
    const asked = request({ socketPath, path: target, timeout: DOCKER_LIMIT_MS }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.on("end", () => resolve(response.statusCode === 200 ? JSON.parse(text) : undefined));
      response.on("error", () => resolve(undefined));
    });
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(undefined));
    asked.end();
  });
}
