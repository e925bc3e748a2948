import { endpointDelete } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

/** Deletes an endpoint group with its workers. */
export async function deleteEndpoint(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await endpointDelete(connect(options), { id });
  printAnswer(answer, options, ({ msg }) => msg);
}
