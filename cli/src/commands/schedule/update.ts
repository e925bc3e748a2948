import { scheduleUpdate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { fieldsOf, type WhenOptions } from "./times.ts";

type Options = ConnectionOptions & WhenOptions & { readonly json?: boolean };

export async function updateJob(id: number, options: Options): Promise<void> {
  const { rhythm, others } = fieldsOf(options);
  const answer = await scheduleUpdate(connect(options), { id, body: { ...others, ...rhythm } });
  printAnswer(answer, options, ({ msg }) => msg);
}
