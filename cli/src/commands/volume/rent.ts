import { networkVolumeRent, volumeRent } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { dollars, printAnswer } from "../../output.ts";

type Options = ConnectionOptions & {
  readonly network?: boolean;
  readonly size?: number;
  readonly name?: string;
  readonly json?: boolean;
};

export async function rentVolume(offerId: number, options: Options): Promise<void> {
  const { network, size, name } = options;
  const rent = network === true ? networkVolumeRent : volumeRent;
  const answer = await rent(connect(options), { body: { id: offerId, ...given({ size, name }) } });
  printAnswer(
    answer,
    options,
    ({ id, storage_cost: price }) =>
      `Volume ${id} is yours${price === undefined ? "" : ` for ${dollars(price)} per GB and month`}. Use it in an instance there: berth rent OFFER --env '-v V.${id}:/data'`,
  );
}
