import { billingTransferCredit } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { dollars, printAnswer } from "../../output.ts";

export async function transferCredit(
  recipient: string,
  amount: number,
  options: ConnectionOptions & { readonly from?: string; readonly json?: boolean },
): Promise<void> {
  const answer = await billingTransferCredit(connect(options), {
    body: { recipient, amount, ...given({ sender: options.from }) },
  });
  printAnswer(answer, options, () => `${dollars(amount)} went to ${recipient}.`);
}
