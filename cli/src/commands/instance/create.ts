import { instanceCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";
import { agreedPriceText } from "./agreed-price.ts";
import { renderForecast } from "./forecast.ts";
import { fieldsToRun, type WhatToRun } from "./what-to-run.ts";

/** Rents an offer, or says what that would cost. */
export async function createInstance(
  offerId: number,
  options: ConnectionOptions & WhatToRun & { readonly dryRun?: boolean; readonly json?: boolean },
): Promise<void> {
  const body = { ...fieldsToRun(options), ...given({ dry_run: options.dryRun }) };
  const answer = await instanceCreate(connect(options), { id: offerId, body });
  printAnswer(answer, options, (shown) =>
    "dry_run" in shown
      ? renderForecast(shown)
      : `Instance ${shown.new_contract} is being created.${agreedPriceText(shown)} See: berth show ${shown.new_contract}`,
  );
}
