import { existsSync } from "node:fs";
import { printLine, renderFields } from "../../output.ts";
import {
  countRentals,
  isRunningSystem,
  readJoined,
  systemctl,
  UNIT,
  unitPath,
  type ServiceOptions,
} from "./service.ts";

/** Exit code of systemctl for a service that does not run. */
const NOT_RUNNING = 3;

/** Shows the service and what this machine joined. */
export async function showAgent(options: ServiceOptions): Promise<void> {
  const isInstalled = existsSync(unitPath(options));
  const enabled = isInstalled ? (await systemctl(options, "is-enabled", UNIT)).output : "not installed";
  const active = isInstalled && isRunningSystem(options) ? (await systemctl(options, "is-active", UNIT)).output : "";
  const joined = readJoined(options);
  const rentals = joined && (await countRentals(joined.host_key));
  printLine(
    renderFields({
      service: enabled,
      state: active,
      server: joined?.server ?? "not joined",
      machine: joined?.host_key,
      joined: joined?.joined_at,
      rentals: rentals && `${rentals.running} running, ${rentals.stopped} stopped`,
    }),
  );
  if (active !== "active") process.exitCode = NOT_RUNNING;
}
