import { adminFlagList } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printJsonLine } from "../../output.ts";

/** Prints `{"flags": […]}`, the newest first. Cleared ones only with `--all`. */
export async function listFlags(options: ConnectionOptions & { readonly all?: boolean }): Promise<void> {
  const query = given({ open: options.all === true ? undefined : ("true" as const) });
  printJsonLine(await adminFlagList(connect(options), { query }));
}
