import { instanceChangeBid } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { findInstance } from "../../find-instance.ts";
import { waitingText } from "../../instance-notes.ts";
import { dollars, printAnswer } from "../../output.ts";

/** Changes a bid; without a price to the lowest that makes the instance run now. Prints the outcome. */
export async function changeBid(
  id: number,
  price: number | undefined,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const client = connect(options);
  const answer = await instanceChangeBid(client, { id, body: { client_id: "me", price: price ?? null } });
  const instance = await findInstance(client, id);
  const waits = waitingText(instance, readClock());
  printAnswer({ ...answer, id, price: instance.dph_base, waiting_for: instance.waiting_for }, options, () =>
    [
      `Instance ${id} bids ${dollars(instance.dph_base)} per hour now.`,
      waits === undefined ? `See: berth show ${id}` : `It waits: ${waits}`,
    ].join(" "),
  );
}
