import { become } from "../../become.ts";
import { workerMain } from "../../rooms.ts";

/** Becomes the worker, with the arguments as they are. Does not return. */
export async function runWorker(args: readonly string[]): Promise<void> {
  await become([workerMain(), ...args], process.env);
}
