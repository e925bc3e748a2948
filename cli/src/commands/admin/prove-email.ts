import { adminUserProveEmail } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

/** The operator vouches for an address; the server refuses when the account claims another one by now. */
export async function proveEmail(id: number, email: string, options: ConnectionOptions): Promise<void> {
  printJsonLine(await adminUserProveEmail(connect(options), { user_id: String(id), body: { email } }));
}
