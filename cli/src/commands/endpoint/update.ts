import { endpointUpdate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";
import { parametersOf, type ParameterOptions } from "./parameters.ts";

type Options = ConnectionOptions & ParameterOptions & { readonly state?: string; readonly json?: boolean };

export async function updateEndpoint(id: number, options: Options): Promise<void> {
  const body = { ...parametersOf(options), ...given({ endpoint_state: options.state }) };
  const answer = await endpointUpdate(connect(options), { id, body });
  printAnswer(
    answer,
    options,
    () => `Endpoint group ${id} is changed. See what follows with: berth endpoint explain ${id}`,
  );
}
