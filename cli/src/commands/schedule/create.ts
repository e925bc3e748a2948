import { scheduleCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { printAnswer } from "../../output.ts";
import { fieldsOf, type WhenOptions } from "./times.ts";

type Request = { readonly method: "GET" | "POST" | "PUT" | "DELETE"; readonly path: string };
type Options = ConnectionOptions & WhenOptions & { readonly json?: boolean };

export async function createJob({ method, path }: Request, options: Options): Promise<void> {
  const { rhythm, others } = fieldsOf(options);
  if (rhythm === undefined) {
    throw new UserError("The job has no time.", "Give one of --once, --hourly, --daily and --weekly.", 2);
  }
  const body = { api_endpoint: path, request_method: method, ...others, ...rhythm };
  const answer = await scheduleCreate(connect(options), { body });
  printAnswer(answer, options, ({ scheduled_job_id: id, msg }) => `${msg} See its runs: berth schedule runs ${id}`);
}
