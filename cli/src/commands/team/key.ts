import { apikeyCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function createTeamKey(
  id: number,
  options: ConnectionOptions & { readonly name: string; readonly json?: boolean },
): Promise<void> {
  const answer = await apikeyCreate(connect(options), { body: { name: options.name, team_id: id } });
  printAnswer(answer, options, ({ key }) => `The key acts as team ${id}, and is shown only now:\n\n  ${key}`);
}
