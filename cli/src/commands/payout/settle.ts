import {
  adminPayout,
  adminPayouts,
  adminSettlePayout,
  type AdminPayoutsAnswer,
} from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

type State = AdminPayoutsAnswer["payouts"][number]["state"];

export async function listAllPayouts(options: ConnectionOptions & { readonly state?: State }): Promise<void> {
  const query = options.state === undefined ? {} : { state: options.state };
  printJsonLine(await adminPayouts(connect(options), { query }));
}

export async function showPayout(id: number, options: ConnectionOptions): Promise<void> {
  printJsonLine(await adminPayout(connect(options), { id }));
}

export async function settlePayout(
  id: number,
  state: "paid" | "failed",
  { reference, reason, ...options }: ConnectionOptions & { readonly reference?: string; readonly reason?: string },
): Promise<void> {
  const text = state === "paid" ? { reference: reference ?? "" } : { reason: reason ?? "" };
  printJsonLine(await adminSettlePayout(connect(options), { id, body: { state, ...text } }));
}
