import { adminDisk } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

/** Prints `{"disk_id", "email", "size", …}` of a network disk that the user may list for rent. */
export async function createDisk(email: string, options: ConnectionOptions & { readonly size: number }): Promise<void> {
  printJsonLine(await adminDisk(connect(options), { body: { email, size: options.size } }));
}
