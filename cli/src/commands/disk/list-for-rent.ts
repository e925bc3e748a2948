import { networkVolumeList } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly price: number; readonly size: number; readonly json?: boolean };

/** Offers a network disk to others; the price is in dollars per GB and month. */
export async function listDiskForRent(id: number, options: Options): Promise<void> {
  const body = { disk_id: id, price_disk: options.price, size: options.size };
  const answer = await networkVolumeList(connect(options), { body });
  printAnswer(answer, options, ({ msg }) => msg);
}
