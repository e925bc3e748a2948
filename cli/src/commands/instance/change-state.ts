import { instanceUpdate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean };

export async function startInstance(id: number, options: Options): Promise<void> {
  const answer = await instanceUpdate(connect(options), { id, body: { state: "running" } });
  printAnswer(answer, options, () => `Instance ${id} is being started.`);
}

export async function stopInstance(id: number, options: Options): Promise<void> {
  const answer = await instanceUpdate(connect(options), { id, body: { state: "stopped" } });
  printAnswer(answer, options, () => `Instance ${id} is being stopped; its disk stays and is paid for.`);
}
