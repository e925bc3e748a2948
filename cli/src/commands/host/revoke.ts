import { hostRevoke } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

/**
 * Revokes a credential. Containers end with the heartbeat lease, within minutes, unless the machine joins again before.
 */
export async function revokeHost(id: number, options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await hostRevoke(connect(options), { id: String(id) });
  printAnswer(answer, options, ({ msg }) => msg);
}
