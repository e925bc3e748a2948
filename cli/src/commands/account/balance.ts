import { userShow } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printJson, printLine, renderFields } from "../../output.ts";

export async function showBalance(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const { email, balance, credit } = await userShow(connect(options));
  if (options.json === true) printJson({ email, balance, credit });
  else printLine(renderFields({ email, balance: dollars(wholeCents(balance)), credit: dollars(credit) }));
}

/** What you have is shown rounded down, as the API rounds `credit`. */
function wholeCents(amount: number): number {
  return Math.floor(amount * 100 + 1e-6) / 100;
}
