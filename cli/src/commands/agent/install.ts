import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { UserError } from "../../failure.ts";
import { printLine } from "../../output.ts";
import { requireCheckout } from "../../rooms.ts";
import { agentProgram } from "./run.ts";
import {
  isRunningSystem,
  readJoined,
  requireSystem,
  requireSystemctl,
  stateFolder,
  UNIT,
  unitPath,
  unitText,
  type ServiceOptions,
} from "./service.ts";

type Options = ServiceOptions & { readonly server?: string; readonly token?: string };

/** Options of the agent that would end the service at once, or run a second agent. */
const NOT_FOR_A_SERVICE = new Set(["--join-only", "--help"]);

/** Lets this machine join, then makes the agent a service of it. The token is stored nowhere. */
export async function installAgent(options: Options, agentArgs: readonly string[]): Promise<void> {
  const checkout = requireCheckout();
  requireSystem(options);
  const wrong = agentArgs.find((arg) => NOT_FOR_A_SERVICE.has(arg));
  if (wrong !== undefined) throw new UserError(`${wrong} cannot be used with a service.`, "Leave it out.", 2);
  const server = options.server === undefined ? [] : ["--server", options.server];
  if (options.token !== undefined || isRunningSystem(options)) await joinNow(options, [...server, ...agentArgs]);
  const command = [path.join(checkout, "berth"), "agent", ...server, "--state-dir", options.stateDir, ...agentArgs];
  const file = unitPath(options);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, unitText({ command, documentation: path.join(checkout, "docs/hosts.md") }), { mode: 0o644 });
  printLine(`Wrote ${file}.`);
  if (!isRunningSystem(options)) {
    await requireSystemctl(options, "enable", UNIT);
    printLine(`Enabled ${UNIT}; it starts with that system.`);
    if (readJoined(options) === undefined) {
      printLine("It joins at its first start with BERTH_AGENT_JOIN_TOKEN of that system's /etc/berth/agent.env.");
    }
    return;
  }
  await requireSystemctl(options, "daemon-reload");
  await requireSystemctl(options, "enable", UNIT);
  // Not `enable --now`: a running service must restart with the new options.
  await requireSystemctl(options, "restart", UNIT);
  printLine(`Started ${UNIT}, now and at each start of this machine. Its log: journalctl -u berth-agent`);
}

/** Runs the agent until it has joined; it reports mistakes in its options itself. */
async function joinNow(options: Options, args: readonly string[]): Promise<void> {
  const folder = stateFolder(options);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const program = agentProgram([...args, "--state-dir", folder, "--join-only"]);
  const given = options.token === undefined ? {} : { BERTH_AGENT_JOIN_TOKEN: options.token };
  const env = { ...process.env, ...given };
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(process.execPath, [...process.execArgv, ...program], { env, stdio: "inherit" });
    child.once("error", reject);
    child.once("exit", (status) => resolve(status ?? 1));
  });
  if (code !== 0) {
    throw new UserError("This machine has not joined, so nothing was installed.", "The agent says why, above.");
  }
}
