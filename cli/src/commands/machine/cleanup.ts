import { machineCleanup } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function cleanUpMachine(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await machineCleanup(connect(options), { id });
  printAnswer(answer, options, ({ num_deleted: count }) =>
    count === 0
      ? `Machine ${id} has no data of ended contracts.`
      : `Deleted the data of ${count} ended ${count === 1 ? "contract" : "contracts"} on machine ${id}.`,
  );
}
