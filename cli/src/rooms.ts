import { existsSync } from "node:fs";
import path from "node:path";
import { UserError } from "./failure.ts";

/** The folder above the room of this file: a checkout, or the package of the client, which has no server and no agent. */
const TOP = path.resolve(import.meta.dirname, "../..");
/** `.ts` in a checkout and `.js` in a package, since Node strips no types below node_modules. */
const EXTENSION = path.extname(import.meta.filename);

export function isCheckout(): boolean {
  return existsSync(path.join(TOP, "server"));
}

/** The folder of the checkout. Throws in the package of the client. */
export function requireCheckout(): string {
  if (isCheckout()) return TOP;
  throw new UserError(
    "This command needs a checkout of Berth: what is installed here is the client, without server and agent.",
    "Run it as `./berth` in a checkout.",
  );
}

/** The file that runs the worker; the package of the client has it too. */
export function workerMain(): string {
  return path.join(TOP, `worker/src/main${EXTENSION}`);
}
