import { ApiError } from "../../../../sdk/src/client.ts";
import { arrearsShow, userShow, type ArrearsShowAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printJson, printLine, renderFields } from "../../output.ts";
import { whenText } from "../../time-text.ts";
import { keptText } from "../cap/kept-text.ts";
import { stopsText } from "../cap/outlook-text.ts";

export async function showBalance(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const client = connect(options);
  const { email, balance, credit, freeze } = await userShow(client);
  const { arrears, caps, balance_stops_at: stopsAt } = await findUnpaid(client, balance);
  if (options.json === true)
    return printJson({ email, balance, credit, arrears, caps, balance_stops_at: stopsAt ?? null });
  printLine(renderFields({ email, balance: dollars(wholeCents(balance)), credit: dollars(credit) }));
  // Older servers answer without it.
  if (freeze) printLine(`\nThis account is frozen (freeze ${freeze.id}): ${freeze.reason}`);
  if (typeof stopsAt === "number") printLine(`\nYour credit ${stopsText(stopsAt)}.`);
  if (arrears !== null) {
    const until = whenText(arrears.delete_at, readClock());
    printLine(
      `\nYour credit is used up. Your data is kept until ${until}, and deleted then unless you add credit before.`,
    );
  }
  for (const kept of caps) printLine(`\n${keptText(kept)}`);
}

/** Data that is kept unpaid. A key that may not read billing still shows a balance. */
async function findUnpaid(
  client: ReturnType<typeof connect>,
  balance: number,
): Promise<Pick<ArrearsShowAnswer, "arrears" | "caps" | "balance_stops_at">> {
  try {
    return await arrearsShow(client);
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status === 403;
    if (isRefused && balance >= 0) return { arrears: null, caps: [], balance_stops_at: null };
    throw error;
  }
}

/** The balance rounded down, as the API rounds `credit`. */
function wholeCents(amount: number): number {
  return Math.floor(amount * 100 + 1e-6) / 100;
}
