import {
  billingChoosePayoutMethod,
  billingPayoutMethod,
  type BillingChoosePayoutMethodInput,
} from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

type Body = NonNullable<BillingChoosePayoutMethodInput["body"]>;
type Options = ConnectionOptions & {
  readonly json?: boolean;
  readonly accountId?: string;
  readonly email?: string;
  readonly accountHolder?: string;
  readonly country?: string;
  readonly iban?: string;
  readonly bic?: string;
  readonly accountNumber?: string;
  readonly routingNumber?: string;
};

/** Sets the payout method when one is named, and shows it. */
export async function payoutMethod(method: Body["method"] | undefined, options: Options): Promise<void> {
  const client = connect(options);
  const answer = await (method === undefined
    ? billingPayoutMethod(client)
    : billingChoosePayoutMethod(client, { body: { method, details: detailsOf(options) } }));
  printAnswer(answer, options, ({ method: chosen, shown }) =>
    chosen === null
      ? "You have no payout method. Set one: berth host payout-method paypal --email you@example.com"
      : `Payouts go to ${chosen}: ${shown}`,
  );
}

function detailsOf(options: Options): Body["details"] {
  const { accountId, email, accountHolder, country, iban, bic, accountNumber, routingNumber } = options;
  return {
    ...(accountId === undefined ? {} : { account_id: accountId }),
    ...(email === undefined ? {} : { email }),
    ...(accountHolder === undefined ? {} : { account_holder: accountHolder }),
    ...(country === undefined ? {} : { country }),
    ...(iban === undefined ? {} : { iban }),
    ...(bic === undefined ? {} : { bic }),
    ...(accountNumber === undefined ? {} : { account_number: accountNumber }),
    ...(routingNumber === undefined ? {} : { routing_number: routingNumber }),
  };
}
