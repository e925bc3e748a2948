import { deploymentShow } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderFields } from "../../output.ts";
import { dateText, spanText } from "../../time-text.ts";

export async function showDeployment(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await deploymentShow(connect(options), { id });
  printAnswer(answer, options, ({ deployment }) =>
    renderFields({
      id: deployment.id,
      name: deployment.name,
      tag: deployment.tag,
      image: deployment.image,
      env: deployment.env,
      disk: `${deployment.storage} GB`,
      search: deployment.search_params,
      code: deployment.file_hash,
      version: deployment.current_version_id ?? "none yet: its code was not uploaded",
      "last healthy version": deployment.last_healthy_version_id ?? undefined,
      endpoint: deployment.endpoint_id ?? "deleted",
      state: deployment.endpoint_state ?? undefined,
      workers: deployment.worker_count,
      "torn down": deployment.ttl === null ? "never" : `${spanText(deployment.ttl)} after its client was there last`,
      "client was there": dateText(deployment.last_client_heartbeat),
      created: dateText(deployment.created_at),
      updated: dateText(deployment.updated_at),
    }),
  );
}
