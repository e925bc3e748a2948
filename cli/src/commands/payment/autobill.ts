import { billingAutobill, billingChangeAutobill } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderFields } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Options = ConnectionOptions & {
  readonly json?: boolean;
  readonly on?: true;
  readonly off?: true;
  readonly threshold?: number;
  readonly amount?: number;
};

/** Changes the given settings of automatic payments, and shows all of them. */
export async function autobill(options: Options): Promise<void> {
  const { threshold, amount } = options;
  const body = {
    ...(options.on === true ? { enabled: true } : options.off === true ? { enabled: false } : {}),
    ...(threshold === undefined ? {} : { threshold }),
    ...(amount === undefined ? {} : { amount }),
  };
  const client = connect(options);
  const isChange = Object.keys(body).length > 0;
  const answer = await (isChange ? billingChangeAutobill(client, { body }) : billingAutobill(client));
  printAnswer(answer, options, (held) =>
    renderFields({
      automatic: held.enabled ? "on" : "off",
      threshold: dollars(held.threshold),
      amount: dollars(held.amount),
      card: held.last4 === null ? "none saved" : `…${held.last4}`,
      "failures since": held.failure_count === 0 ? undefined : held.failure_count,
      "not before": held.retry_at === null ? undefined : dateText(held.retry_at),
    }),
  );
}
