import { adminRefundPayment } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

/** Refunds a payment and prints the amount that the provider is asked to return. */
export async function refund(id: number, amount: number | undefined, options: ConnectionOptions): Promise<void> {
  const body = amount === undefined ? {} : { amount };
  const input = { id, body };
  printJsonLine(await adminRefundPayment(connect(options), input));
}
