import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import path from "node:path";
import type { Client } from "../../../../../sdk/src/client.ts";
import { systemTimer } from "../../../../../sdk/src/timer.ts";
import { connect, type ConnectionOptions } from "../../../connect.ts";
import { UserError } from "../../../failure.ts";
import { findInstance, type Instance } from "../../../find-instance.ts";
import { sshAddressOf, type SshAddress } from "../../../ssh-address.ts";
import { trustOptions } from "../../../ssh-trust.ts";

export type SshOptions = ConnectionOptions & { readonly identity?: string; readonly forward?: readonly string[] };

const POLL_MS = 1_000;
/** Waiting time for an instance that starts; long enough for an image of some gigabytes. */
const WAIT_POLLS_MAX = 600;
/** Exit codes of a shell for a program that a signal ended. */
const SIGNAL_BASE = 128;
/** States that an instance does not leave for `running` by itself. */
const AT_REST: ReadonlySet<string> = new Set(["stopped", "exited", "destroyed"]);

/**
 * Becomes a session in an instance, or runs a command there: the system's `ssh`, at the right address, with the host key
 * that the server knows. Ends with the exit code of `ssh`.
 */
export async function ssh(id: number, command: readonly string[], options: SshOptions): Promise<void> {
  const { instance, address } = await waitUntilReachable(connect(options), id);
  const folder = await mkdtemp(path.join(tmpdir(), "berth-ssh-"));
  try {
    const trust = await trustOptions(instance, folder);
    const { identity, forward = [] } = options;
    process.exitCode = await runSsh([
      ...trust,
      // The way in opens a moment after the instance runs, and again after a restart of its host's agent.
      ...["-o", "ServerAliveInterval=30", "-o", "ConnectionAttempts=5"],
      ...(identity === undefined ? [] : ["-i", identity]),
      ...forward.flatMap((rule) => ["-L", rule]),
      ...["-p", String(address.port), "-l", "root", "--", address.host],
      ...command,
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function waitUntilReachable(client: Client, id: number): Promise<{ instance: Instance; address: SshAddress }> {
  let told = "";
  for (let poll = 0; poll < WAIT_POLLS_MAX; poll += 1) {
    const instance = await findInstance(client, id);
    refuseUnreachable(instance);
    const address = sshAddressOf(instance);
    if (instance.actual_status === "running" && address !== undefined) return { instance, address };
    const state = instance.actual_status ?? "ordered";
    const line = `Instance ${id} is not up yet (${[state, instance.status_msg].filter(Boolean).join(": ")}); waiting…`;
    if (line !== told) process.stderr.write(`${line.replace(/\p{Cc}/gu, " ")}\n`);
    told = line;
    await systemTimer.sleep(POLL_MS);
  }
  throw new UserError(`Instance ${id} did not come up in time.`, `See why with: berth show ${id}`);
}

function refuseUnreachable({ id, ...instance }: Instance): void {
  if (instance.is_simulated) {
    throw new UserError(`Instance ${id} is on a simulated host: there is nothing to connect to.`, "Rent a real one.");
  }
  if (!/\b(ssh|jupyter)/.test(instance.image_runtype)) {
    throw new UserError(
      `Instance ${id} runs the entrypoint of its image, which brings its own access or none.`,
      "Rent it with the runtype ssh to get a shell.",
    );
  }
  const status = instance.actual_status ?? "";
  if (instance.intended_status === "stopped" || AT_REST.has(status)) {
    throw new UserError(`Instance ${id} does not run: ${status || "stopped"}.`, `Start it with: berth start ${id}`);
  }
}

function runSsh(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn("ssh", args, { stdio: "inherit" });
    // The terminal sends an interrupt to both; what it means is for the session to say.
    const ignore = () => {};
    process.on("SIGINT", ignore);
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => child.kill(signal));
    child.once("error", (error) => {
      const isMissing = "code" in error && error.code === "ENOENT";
      const failure = new UserError("There is no ssh here.", "On Debian or Ubuntu: apt install openssh-client");
      reject(isMissing ? failure : error);
    });
    child.once("exit", (code, signal) => {
      process.off("SIGINT", ignore);
      resolve(code ?? SIGNAL_BASE + (signal === null ? 1 : constants.signals[signal]));
    });
  });
}
