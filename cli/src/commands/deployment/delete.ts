import { deploymentDelete } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

/** Deletes a deployment with its code, its endpoint group and its workers. */
export async function deleteDeployment(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await deploymentDelete(connect(options), { id });
  printAnswer(answer, options, () => `Deployment ${id} is deleted, with its endpoint group and its workers.`);
}
