import { machineSetMinBid } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer } from "../../output.ts";

export async function setMinBid(
  id: number,
  price: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await machineSetMinBid(connect(options), { id, body: { price } });
  printAnswer(
    answer,
    options,
    () => `Bids on machine ${id} must reach ${dollars(price)} per GPU and hour; lower bids get an eviction notice.`,
  );
}
