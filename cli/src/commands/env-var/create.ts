import { secretCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { readValue } from "./value.ts";

export async function createEnvVar(
  name: string,
  value: string | undefined,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await secretCreate(connect(options), { body: { key: name, value: readValue(value) } });
  printAnswer(answer, options, ({ msg }) => msg);
}
