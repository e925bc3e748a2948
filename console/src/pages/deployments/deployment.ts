import type { Deployment } from "../../../../sdk/src/index.ts";
import { count } from "../../text/size.ts";

/** The word for the state of a deployment (text/states.ts) and the sentence beside it. */
export function stateOf(deployment: Deployment): { readonly state: string; readonly sentence: string } {
  const { endpoint_state: state, current_version_id: current, worker_count: workers } = deployment;
  if (state === null) return { state: "ended", sentence: "Its endpoint was deleted; deploying it again makes another" };
  if (current === null) return { state: "pending", sentence: "No version is there yet: its code was not sent" };
  if (state === "stopped") return { state, sentence: "Its workers are stopped, and requests are refused" };
  return { state, sentence: `${count(workers, "worker")} now` };
}
