import { adminFlagClear } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

/** Prints the cleared flag; the host reads the reason. */
export async function clearFlag(id: number, options: ConnectionOptions & { readonly reason: string }): Promise<void> {
  printJsonLine(await adminFlagClear(connect(options), { id: String(id), body: { reason: options.reason } }));
}
