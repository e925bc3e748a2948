import { instanceAcceptPriceIncrease, instanceRejectPriceIncrease } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean };

export async function acceptPriceIncrease(id: number, options: Options): Promise<void> {
  const answer = await instanceAcceptPriceIncrease(connect(options), { body: { pending_price_increase_id: id } });
  printAnswer(
    answer,
    options,
    ({ contract_id: instance }) =>
      `Instance ${instance} goes on at the new price after its present end. See: berth show ${instance}`,
  );
}

export async function rejectPriceIncrease(id: number, options: Options): Promise<void> {
  const answer = await instanceRejectPriceIncrease(connect(options), { body: { pending_price_increase_id: id } });
  printAnswer(
    answer,
    options,
    ({ contract_id: instance }) =>
      `Instance ${instance} keeps its price and ends as agreed. See when: berth show ${instance}`,
  );
}
