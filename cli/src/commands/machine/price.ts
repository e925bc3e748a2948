import { machineCreateAsks } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Options = ConnectionOptions & {
  readonly gpu?: number;
  readonly minBid?: number;
  readonly disk?: number;
  readonly sent?: number;
  readonly received?: number;
  readonly minGpus?: number;
  readonly discount?: number;
  readonly until?: number;
  readonly for?: string;
  readonly volumeSize?: number;
  readonly volumePrice?: number;
  readonly json?: boolean;
};

/** Lists a machine, or changes its listing. Terms that are not given stay. */
export async function priceMachine(machine: number, options: Options): Promise<void> {
  if (options.until !== undefined && options.for !== undefined) {
    throw new UserError("--until and --for cannot be combined.", "Give the end of the listing, or its length.", 2);
  }
  const terms = given({
    price_gpu: options.gpu,
    price_min_bid: options.minBid,
    price_disk: options.disk,
    price_inetu: options.sent,
    price_inetd: options.received,
    min_chunk: options.minGpus,
    credit_discount_max: options.discount,
    end_date: options.until,
    duration: options.for,
    vol_size: options.volumeSize,
    vol_price: options.volumePrice,
  });
  const answer = await machineCreateAsks(connect(options), { body: { machine, ...terms } });
  printAnswer(answer, options, ({ end_date: end, extended, price_increases: asked }) =>
    [
      `Machine ${machine} is listed until ${dateText(end)} UTC.`,
      extended === 0 ? "" : `Extended until then at their own price: ${contracts(extended)}.`,
      asked === 0 ? "" : `Renters asked to stay longer at the new price: ${contracts(asked)}.`,
      `See: berth machine show ${machine}`,
    ]
      .filter((text) => text !== "")
      .join(" "),
  );
}

function contracts(count: number): string {
  return count === 1 ? "1 contract" : `${count} contracts`;
}
