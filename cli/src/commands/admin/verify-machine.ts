import { adminMachineVerify } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";
import { printJsonLine } from "../../output.ts";

export type Verdict = "verified" | "unverified" | "automatic";

/** Decides on a machine by hand and prints its verification afterwards. */
export async function verifyMachine(
  id: number,
  verdict: Verdict | undefined,
  options: ConnectionOptions & { readonly dataCenter?: boolean },
): Promise<void> {
  const { dataCenter } = options;
  if (verdict === undefined && dataCenter === undefined) {
    throw new UserError("No decision is given.", "Give verified, unverified or automatic, or --data-center.", 2);
  }
  const hostingType = dataCenter === undefined ? undefined : Number(dataCenter);
  const body = given({ verification: verdict, hosting_type: hostingType });
  printJsonLine(await adminMachineVerify(connect(options), { id: String(id), body }));
}
