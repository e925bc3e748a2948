import { instanceUpdate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function setTrafficLimit(
  id: number,
  dollars: number | null,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await instanceUpdate(connect(options), { id, body: { traffic_limit: dollars } });
  printAnswer(answer, options, () =>
    dollars === null
      ? `Instance ${id} has the traffic limit of a new instance from now on.`
      : `The traffic of instance ${id} may cost at most $${dollars} in all.`,
  );
}
