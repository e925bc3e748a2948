import path from "node:path";
import { become } from "../../become.ts";

const MAIN = path.resolve(import.meta.dirname, "../../../../worker/src/main.ts");

/** Becomes the worker, with the arguments as they are. Does not return. */
export async function runWorker(args: readonly string[]): Promise<void> {
  await become([MAIN, ...args], process.env);
}
