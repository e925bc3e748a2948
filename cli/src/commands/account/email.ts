import { userConfirmEmail, userRequestEmailProof } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean };

export async function requestProof(options: Options): Promise<void> {
  const answer = await userRequestEmailProof(connect(options));
  printAnswer(answer, options, ({ msg }) => msg);
}

export async function confirmEmail(token: string, options: Options): Promise<void> {
  const answer = await userConfirmEmail(connect(options), { body: { token } });
  printAnswer(answer, options, ({ msg }) => msg);
}
