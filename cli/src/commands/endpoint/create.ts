import { endpointCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & {
  readonly name?: string;
  readonly minLoad?: number;
  readonly targetUtil?: number;
  readonly coldMult?: number;
  readonly coldWorkers?: number;
  readonly maxWorkers?: number;
  readonly json?: boolean;
};

/** Creates an endpoint group; what is not given has the server's default. */
export async function createEndpoint(options: Options): Promise<void> {
  const { name, minLoad, targetUtil, coldMult, coldWorkers, maxWorkers } = options;
  const body = given({
    endpoint_name: name,
    min_load: minLoad,
    target_util: targetUtil,
    cold_mult: coldMult,
    cold_workers: coldWorkers,
    max_workers: maxWorkers,
  });
  const answer = await endpointCreate(connect(options), { body });
  printAnswer(answer, options, ({ result }) => `Endpoint group ${result} is created.`);
}
