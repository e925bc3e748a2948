import { instanceCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & {
  readonly image?: string;
  readonly template?: string;
  readonly env?: string;
  readonly disk?: number;
  readonly price?: number;
  readonly label?: string;
  readonly onstart?: string;
  readonly runtype?: string;
  readonly json?: boolean;
};

/** Rents an offer. A price makes the rental interruptible: it is then the bid in dollars per hour. */
export async function createInstance(offerId: number, options: Options): Promise<void> {
  const { image, template, env, disk, price, label, onstart, runtype } = options;
  if (image === undefined && template === undefined) {
    throw new UserError("Nothing says what to run.", "Give --image or --template.", 2);
  }
  const body = given({ image, template_hash_id: template, env, disk, price, label, onstart, runtype });
  const answer = await instanceCreate(connect(options), { id: offerId, body });
  printAnswer(answer, options, ({ new_contract: id }) => `Instance ${id} is being created. See: berth show ${id}`);
}
