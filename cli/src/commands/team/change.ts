import { teamDelete, teamTransfer, teamUpdate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean };

export async function renameTeam(name: string, options: Options): Promise<void> {
  const answer = await teamUpdate(connect(options), { body: { team_name: name } });
  printAnswer(answer, options, ({ msg }) => msg);
}

export async function transferTeam(member: string, options: Options): Promise<void> {
  const body = member.includes("@") ? { email: member } : { user_id: Number(member) };
  const answer = await teamTransfer(connect(options), { body });
  printAnswer(answer, options, ({ msg }) => msg);
}

export async function deleteTeam(options: Options): Promise<void> {
  const answer = await teamDelete(connect(options));
  printAnswer(answer, options, ({ pkey_id: keyId }) =>
    keyId === null
      ? "The team and its keys are deleted."
      : `The team and its keys are deleted. Key ${keyId}, which made it, is your own.`,
  );
}
