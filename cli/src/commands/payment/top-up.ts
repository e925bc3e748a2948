import { billingCheckout } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean; readonly saveCard?: true };

export async function topUp(amount: number, options: Options): Promise<void> {
  const body = { amount, ...(options.saveCard === true ? { save_card: true } : {}) };
  const answer = await billingCheckout(connect(options), { body });
  printAnswer(answer, options, ({ url, payment_id: id }) =>
    [`Pay ${dollars(amount)} on this page (payment ${id}); your credit has it seconds later:`, url].join("\n"),
  );
}
