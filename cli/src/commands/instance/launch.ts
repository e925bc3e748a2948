import { ApiError } from "../../../../sdk/src/client.ts";
import { instanceLaunch } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { printAnswer } from "../../output.ts";
import { parseOrder } from "../offer/order.ts";
import { OFFER_FIELDS } from "../offer/search-fields.ts";
import { warnOfUnknownFields } from "../offer/warn-unknown.ts";
import { agreedPriceText } from "./agreed-price.ts";
import { fieldsToRun, type WhatToRun } from "./what-to-run.ts";

type Options = ConnectionOptions & WhatToRun & { readonly order: string; readonly json?: boolean };

/** Rents the first offer of a search that can still be had. */
export async function launchInstance(words: readonly string[], options: Options): Promise<void> {
  const q = words.join(" ");
  warnOfUnknownFields(q, OFFER_FIELDS);
  const body = { ...fieldsToRun(options), q: { q, order: parseOrder(options.order) } };
  const answer = await instanceLaunch(connect(options), { body }).catch((error: unknown) => {
    const isInVain = error instanceof ApiError && error.code === "no_such_ask";
    throw isInVain ? new UserError(`${error.msg}`, "Wait in the queue for one with: berth queue add") : error;
  });
  printAnswer(
    answer,
    options,
    ({ new_contract: id, ask_id: offer, ...agreed }) =>
      `Instance ${id} is being created from offer ${offer}.${agreedPriceText(agreed)} See: berth show ${id}`,
  );
}
