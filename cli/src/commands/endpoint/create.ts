import { endpointCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { parametersOf, type ParameterOptions } from "./parameters.ts";

/** Creates an endpoint group; parameters that are not given have the server's defaults. */
export async function createEndpoint(
  options: ConnectionOptions & ParameterOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await endpointCreate(connect(options), { body: parametersOf(options) });
  printAnswer(
    answer,
    options,
    ({ result }) =>
      `Endpoint group ${result} is created. It has no workers yet: berth workergroup create --endpoint ${result} --template HASH`,
  );
}
