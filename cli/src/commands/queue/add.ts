import { standingRequestCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";
import { dateText } from "../../time-text.ts";
import { OFFER_FIELDS } from "../offer/search-fields.ts";
import { warnOfUnknownFields } from "../offer/warn-unknown.ts";
import { fieldsToRun, type WhatToRun } from "../instance/what-to-run.ts";

type Options = ConnectionOptions & WhatToRun & { readonly hours?: number; readonly json?: boolean };

/** Leaves a standing request, which rents the first offer that matches. */
export async function addToQueue(words: readonly string[], options: Options): Promise<void> {
  const { maxPrice, hours, price } = options;
  const what = fieldsToRun(options);
  if (maxPrice === undefined && price === undefined) {
    throw new UserError("No price limit is given.", "Give --max-price, or --price for a bid.", 2);
  }
  const q = words.join(" ");
  warnOfUnknownFields(q, OFFER_FIELDS);
  const body = { ...what, q, ...given({ expires_in_hours: hours }) };
  const answer = await standingRequestCreate(connect(options), { body });
  printAnswer(
    answer,
    options,
    ({ id, position, expires_at: until }) =>
      `Request ${id} is number ${position} in the queue until ${dateText(until)} UTC. See: berth queue show ${id}`,
  );
}
