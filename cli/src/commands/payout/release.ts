import { adminReleaseEarnings } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

/** Releases granted earnings and prints the amount that can be paid out from now on. */
export async function releaseEarnings(
  user: string,
  amount: number | undefined,
  { reason, ...options }: ConnectionOptions & { readonly reason: string },
): Promise<void> {
  const named = /^\d+$/.test(user) ? { user_id: Number(user) } : { email: user };
  const body = { ...named, ...(amount === undefined ? {} : { amount }), reason };
  printJsonLine(await adminReleaseEarnings(connect(options), { body }));
}
