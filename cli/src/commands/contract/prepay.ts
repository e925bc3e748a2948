import { instancePrepay } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer } from "../../output.ts";

export async function prepay(
  id: number,
  amount: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await instancePrepay(connect(options), { id, body: { amount } });
  printAnswer(answer, options, ({ timescale: months, discount_rate: rate, deposit }) => {
    const saved = `${Math.round(rate * 1000) / 10} % off`;
    const time = `${months.toFixed(2)} months of running`;
    return `Instance ${id} is reserved: ${saved} for ${time}, with ${dollars(deposit)} deposited. See: berth deposit ${id}`;
  });
}
