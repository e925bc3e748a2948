import { capSet } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { dollars, printAnswer } from "../../output.ts";
import { outlookTexts } from "./outlook-text.ts";
import type { Scope } from "./scope-text.ts";

type Options = ConnectionOptions & { readonly per: "day" | "month" | "total"; readonly json?: boolean };

export async function setCap({ kind, id }: Scope, limit: number, options: Options): Promise<void> {
  const body = { scope: kind, ...given({ scope_id: id }), period: options.per, limit };
  const answer = await capSet(connect(options), { body });
  printAnswer(answer, options, ({ cap }) => {
    const figures = `Cap ${cap.id}: ${dollars(cap.left)} left of ${dollars(cap.limit)}. See: berth cap list`;
    return [figures, ...outlookTexts(cap).map((text) => `It ${text}`)].join("\n");
  });
}
