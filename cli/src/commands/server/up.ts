import path from "node:path";
import { become } from "../../become.ts";
import { UserError } from "../../failure.ts";
import { requireCheckout } from "../../rooms.ts";

export type UpOptions = {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  readonly simulate?: number;
  readonly agent: boolean;
  readonly declareGpus?: string;
  readonly newAdminKey?: boolean;
  readonly console?: boolean;
};

/** Environment variables of the server's process, in addition to those it inherits. */
export function upEnvironment(options: UpOptions): Record<string, string> {
  const {
    port,
    host,
    dataDir,
    simulate,
    agent: hasAgent,
    declareGpus,
    newAdminKey = false,
    console: hasConsole = true,
  } = options;
  if (host.trim() === "") throw new UserError("The host is empty.", "Give an address, such as --host 0.0.0.0.", 2);
  if (simulate !== undefined && !hasAgent) {
    throw new UserError("--simulate starts hosts and --no-agent starts none.", "Give one of the two.", 2);
  }
  if (declareGpus !== undefined && (simulate !== undefined || !hasAgent)) {
    throw new UserError(
      "--declare-gpus is about this machine, which is not offered with --simulate or --no-agent.",
      "Leave it out, or offer this machine.",
      2,
    );
  }
  return {
    BERTH_PORT: String(port),
    BERTH_HOST: host,
    BERTH_DATA_DIR: path.resolve(dataDir),
    ...(simulate === undefined ? {} : { BERTH_SIMULATE: String(simulate) }),
    ...(hasAgent ? {} : { BERTH_NO_AGENT: "1" }),
    ...(hasConsole ? {} : { BERTH_CONSOLE: "0" }),
    ...(newAdminKey ? { BERTH_REPLACE_ADMIN_KEY: "1" } : {}),
    ...(declareGpus === undefined ? {} : { BERTH_DECLARE_GPUS: declareGpus }),
  };
}

/** A young generation of half the usual size: about 20 MB less memory at rest for a little more collecting under load. */
export const MEMORY_FLAGS = ["--max-semi-space-size=8"];

/** Becomes the server: one process, so that signals and exit codes need no middleman. Does not return. */
export async function up(options: UpOptions): Promise<void> {
  const environment = { ...process.env, ...upEnvironment(options) };
  const main = path.join(requireCheckout(), "server/src/main.ts");
  const argv = [...MEMORY_FLAGS, main];
  await become(argv, environment);
}
