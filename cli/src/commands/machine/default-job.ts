import { machineCreateBids, machineDeleteDefaultJob } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean };

export async function setDefaultJob(
  job: { readonly machine: number; readonly image: string; readonly args: readonly string[] },
  options: Options,
): Promise<void> {
  const answer = await machineCreateBids(connect(options), { body: job });
  printAnswer(
    answer,
    options,
    () => `${job.image} runs on idle GPUs of machine ${job.machine}. See its containers: berth instances`,
  );
}

export async function removeDefaultJob(id: number, options: Options): Promise<void> {
  const answer = await machineDeleteDefaultJob(connect(options), { id });
  printAnswer(answer, options, () => `Machine ${id} has no default job any more.`);
}
