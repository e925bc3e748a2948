import { deploymentStart, deploymentStop } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean };

export async function startDeployment(id: number, options: Options): Promise<void> {
  const answer = await deploymentStart(connect(options), { id });
  printAnswer(answer, options, (said) => `The endpoint group of deployment ${id} is ${said.endpoint_state}.`);
}

export async function stopDeployment(id: number, options: Options): Promise<void> {
  const answer = await deploymentStop(connect(options), { id });
  printAnswer(answer, options, (said) => `The endpoint group of deployment ${id} is ${said.endpoint_state}.`);
}
