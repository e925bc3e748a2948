import { networkVolumeUnlist, volumeHostList, volumeUnlist } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean };
type Terms = { readonly size?: number; readonly price?: number; readonly until?: number };

/** Lists space of the caller's machines, or changes its listing; terms that are not given stay. */
export async function offerVolumes(machines: readonly number[], options: Options & Terms): Promise<void> {
  const { size, price, until } = options;
  const terms = given({ size, price_disk: price, end_date: until });
  const answer = await volumeHostList(connect(options), { body: { machine: machines, ...terms } });
  printAnswer(answer, options, ({ msg }) => msg);
}

export async function unlistVolumes(id: number, options: Options & { readonly network?: boolean }): Promise<void> {
  const unlist = options.network === true ? networkVolumeUnlist : volumeUnlist;
  const answer = await unlist(connect(options), { body: { id } });
  printAnswer(answer, options, ({ msg }) => msg);
}
