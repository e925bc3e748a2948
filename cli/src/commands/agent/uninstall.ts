import { existsSync, readFileSync, rmSync } from "node:fs";
import { UserError } from "../../failure.ts";
import { printLine } from "../../output.ts";
import {
  countRentals,
  isRunningSystem,
  readJoined,
  requireSystem,
  requireSystemctl,
  stateFolder,
  UNIT,
  unitPath,
  type ServiceOptions,
} from "./service.ts";

type Options = ServiceOptions & { readonly purge?: boolean; readonly force?: boolean };

/** Removes the service; with `purge` also the state of the agent, which holds the disks of rentals. */
export async function uninstallAgent(options: Options): Promise<void> {
  requireSystem(options);
  const left = await requireNoRentals(options);
  const folder = stateFolder(options);
  if (options.purge === true) refuseMounted(folder);
  const file = unitPath(options);
  if (existsSync(file)) {
    const now = isRunningSystem(options) ? ["--now"] : [];
    await requireSystemctl(options, "disable", ...now, UNIT);
    rmSync(file);
    if (isRunningSystem(options)) await requireSystemctl(options, "daemon-reload");
    printLine(`Stopped and removed ${UNIT}.`);
  } else printLine(`There is no ${file}.`);
  if (options.purge === true) {
    // A second look: a mount may have come back since the first.
    refuseMounted(folder);
    rmSync(folder, { recursive: true, force: true });
    printLine(`Deleted ${folder}. End the machine's credential on the server with \`berth host revoke\`.`);
  } else if (existsSync(folder)) {
    printLine(`Kept ${folder}: an agent that is installed again goes on as the same machine.`);
  }
  if (left > 0) printLine(`${left} containers of rentals are still here, and no agent manages them now.`);
}

/**
 * The number of rentals' containers. Throws, unless --force is given, when rentals run, or with --purge when any exist or
 * Docker cannot say.
 */
async function requireNoRentals(options: Options): Promise<number> {
  const joined = readJoined(options);
  if (joined === undefined) return 0;
  const rentals = await countRentals(joined.host_key);
  const { running = 0, stopped = 0 } = rentals ?? {};
  const total = running + stopped;
  if (options.force === true) return total;
  const suggestion = "Wait until they have ended, or add --force: their renters lose them.";
  if (rentals === undefined && options.purge === true && isRunningSystem(options)) {
    throw new UserError(
      "Docker does not answer, so rentals on this machine cannot be counted.",
      "Start it, or add --force.",
    );
  }
  if (running > 0) throw new UserError(`${running} rentals run on this machine.`, suggestion);
  if (total > 0 && options.purge === true)
    throw new UserError(`${total} stopped rentals have their disks here.`, suggestion);
  return total;
}

/** Deleting through a mount would delete what is mounted there: a renter's files, or somebody else's disk. */
function refuseMounted(folder: string): void {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => unescapeMount(line.split(" ")[4] ?? ""));
  const mounted = mounts.find((mount) => mount.startsWith(`${folder}/`));
  if (mounted !== undefined) {
    throw new UserError(`${mounted} is mounted, so ${folder} is not deleted.`, "Unmount it and run this again.");
  }
}

/** Blanks and the like are written as octal numbers there. */
function unescapeMount(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_whole, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
