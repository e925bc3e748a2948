import { instanceCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { fieldsToRun, type WhatToRun } from "./what-to-run.ts";

/** Rents an offer. */
export async function createInstance(
  offerId: number,
  options: ConnectionOptions & WhatToRun & { readonly json?: boolean },
): Promise<void> {
  const body = fieldsToRun(options);
  const answer = await instanceCreate(connect(options), { id: offerId, body });
  printAnswer(answer, options, ({ new_contract: id }) => `Instance ${id} is being created. See: berth show ${id}`);
}
