import { adminBookCorrection, adminTakeBackEarnings } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

type About = ConnectionOptions & { readonly reason: string; readonly reference: string };

/** Takes earnings back and prints the entry and the host's earnings afterwards. */
export async function takeBack(user: string, amount: number, { reason, reference, ...options }: About): Promise<void> {
  printJsonLine(await adminTakeBackEarnings(connect(options), { body: { user, amount, reason, reference } }));
}

/** Books a correction and prints the entry and the balance afterwards. */
export async function correct(
  user: string,
  dollars: number,
  { reason, reference, earnings, charge, ...options }: About & { readonly earnings?: true; readonly charge?: true },
): Promise<void> {
  const amount = charge === true ? -dollars : dollars;
  const side = earnings === true ? "earnings" : "credit";
  printJsonLine(await adminBookCorrection(connect(options), { body: { user, amount, reason, reference, side } }));
}
