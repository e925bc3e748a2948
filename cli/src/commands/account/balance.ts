import { arrearsShow, userShow } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printJson, printLine, renderFields } from "../../output.ts";
import { whenText } from "../../time-text.ts";

export async function showBalance(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const client = connect(options);
  const { email, balance, credit } = await userShow(client);
  // Who has something left is not in arrears, and the key may not be one that may read billing.
  const { arrears } = balance < 0 ? await arrearsShow(client) : { arrears: null };
  if (options.json === true) return printJson({ email, balance, credit, arrears });
  printLine(renderFields({ email, balance: dollars(wholeCents(balance)), credit: dollars(credit) }));
  if (arrears === null) return;
  const until = whenText(arrears.delete_at, readClock());
  printLine(
    `\nYour credit is used up. Your data is kept until ${until}, and deleted then unless you add credit before.`,
  );
}

/** What you have is shown rounded down, as the API rounds `credit`. */
function wholeCents(amount: number): number {
  return Math.floor(amount * 100 + 1e-6) / 100;
}
