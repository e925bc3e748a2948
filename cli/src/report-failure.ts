import { ApiError, ConnectionError } from "../../sdk/src/client.ts";
import { UserError } from "./failure.ts";

/** Prints an error and a suggestion on stderr; returns the exit code. Unexpected errors keep their stack. */
export function reportFailure(error: unknown): number {
  const { lines, exitCode } = describeFailure(error);
  process.stderr.write(`${lines.join("\n")}\n`);
  return exitCode;
}

function describeFailure(error: unknown): { readonly lines: readonly string[]; readonly exitCode: number } {
  if (error instanceof UserError) {
    return { lines: [`error: ${error.message}`, error.suggestion], exitCode: error.exitCode };
  }
  if (error instanceof ConnectionError) {
    const suggestion =
      "Is the server running? Start one with `berth up`, or name one with `berth login`, --url or BERTH_URL.";
    return { lines: [`error: ${error.message}`, suggestion], exitCode: 1 };
  }
  if (error instanceof ApiError) {
    const request = error.requestId === undefined ? "" : `, request ${error.requestId}`;
    const lines = [`error: ${error.msg} (${error.code}${request})`, ...suggestFor(error)];
    return { lines, exitCode: 1 };
  }
  return { lines: [error instanceof Error ? (error.stack ?? error.message) : String(error)], exitCode: 1 };
}

/** Suggestions by error code. */
const ADVICE: Readonly<Record<string, string>> = {
  machine_in_use: "See who rents there with `berth machine list`; `berth machine unlist` lets nobody new in.",
  no_such_machine: "See your machines with `berth machine list`.",
  no_such_default_job: "See your machines with `berth machine list`.",
  not_a_host: "See what GPUs cost with `berth gpus`; let a machine join with `berth host token create`.",
  no_such_volume: "See your volumes with `berth volume list`.",
  no_such_volume_offer: "See what there is with `berth volume search`.",
  no_such_template: "See what there is with `berth template search`.",
  no_such_standing_request: "See your requests with `berth queue list`.",
  no_such_invoice: "See your invoices with `berth billing invoices`.",
  no_such_cap: "See your caps with `berth cap list`.",
  no_such_payment: "See what you paid with `berth billing payments`.",
  no_such_payment_method: "See your cards with `berth billing cards`.",
  no_such_payout: "See all payouts with `berth admin payouts`.",
  no_such_team: "See the members of the key's team with `berth team members`.",
  no_such_member: "See the members with `berth team members`.",
  no_such_webhook: "See your webhooks with `berth webhook list`.",
  no_pending_price_increase: "See what hosts ask with `berth price-increase list`.",
};

function suggestFor(error: ApiError): readonly string[] {
  if (error.code.startsWith("insufficient_")) {
    return ["See `berth balance`; an administrator adds credit with `berth admin credit`."];
  }
  const made = error.body["new_contract"];
  if (error.code === "bid_too_low" && typeof made === "number") {
    return [`See what it waits for with \`berth show ${made}\`; \`berth bid ${made}\` bids what runs now.`];
  }
  const advice = ADVICE[error.code];
  if (advice !== undefined) return [advice];
  switch (error.status) {
    case 401:
      return ["Check the key given by --key, BERTH_API_KEY, `berth login` or the data directory's admin.key."];
    case 403:
      return ["This needs a key with more permissions, or another user's key."];
    case 404:
    case 410:
      return ["See what there is with `berth instances` or `berth search`."];
    case 429:
      return ["Too many requests in a short time: try again in a moment."];
    default:
      return [];
  }
}
