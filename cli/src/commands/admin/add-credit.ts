import { adminCredit } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

/** Grants credit and prints the user's balance afterwards. */
export async function addCredit(
  email: string,
  amount: number,
  options: ConnectionOptions & { readonly paidBy?: string; readonly reason?: string },
): Promise<void> {
  const { paidBy, reason } = options;
  const told = { ...(paidBy === undefined ? {} : { paid_by: paidBy }), ...(reason === undefined ? {} : { reason }) };
  printJsonLine(await adminCredit(connect(options), { body: { email, amount, ...told } }));
}
