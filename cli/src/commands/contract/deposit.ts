import { instanceDeposit } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderFields } from "../../output.ts";

export async function showDeposit(id: number, options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await instanceDeposit(connect(options), { id });
  printAnswer(answer, options, (shown) => {
    if (shown.deposit === 0 && shown.total_discount === 0) {
      return `Nothing is deposited for instance ${id}. Pay in advance for less: berth prepay ${id} DOLLARS`;
    }
    return renderFields({
      deposit: dollars(shown.deposit),
      discount: `${Math.round(shown.discount_rate * 1000) / 10} %`,
      "lasts for": `${shown.discount_months.toFixed(2)} months of running`,
      "saved so far": dollars(shown.total_discount),
      "back if destroyed now": dollars(shown.refundable_deposit),
    });
  });
}
