import { machineDeleteAsks } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

/** Takes a machine off the market. Present renters stay until the agreed end. */
export async function unlistMachine(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await machineDeleteAsks(connect(options), { id });
  printAnswer(
    answer,
    options,
    () => `Machine ${id} is off the market; what is rented stays until its end. Put it back: berth machine price ${id}`,
  );
}
