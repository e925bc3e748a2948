import { adminCredit } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

/** Prints what the user has after the credit was added. */
export async function addCredit(email: string, amount: number, options: ConnectionOptions): Promise<void> {
  printJsonLine(await adminCredit(connect(options), { body: { email, amount } }));
}
