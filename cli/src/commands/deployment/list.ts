import { deploymentList, type DeploymentListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText, spanText } from "../../time-text.ts";

const COLUMNS: readonly Column<DeploymentListAnswer["deployments"][number]>[] = [
  { title: "ID", cell: (deployment) => deployment.id },
  { title: "NAME", cell: (deployment) => deployment.name },
  { title: "TAG", cell: (deployment) => deployment.tag },
  { title: "IMAGE", cell: (deployment) => deployment.image },
  { title: "ENDPOINT", cell: (deployment) => deployment.endpoint_id },
  { title: "STATE", cell: (deployment) => deployment.endpoint_state },
  { title: "WORKERS", cell: (deployment) => deployment.worker_count },
  { title: "VERSION", cell: (deployment) => deployment.current_version_id },
  { title: "TTL", cell: ({ ttl }) => (ttl === null ? undefined : spanText(ttl)) },
  { title: "UPDATED", cell: (deployment) => dateText(deployment.updated_at) },
];

export async function listDeployments(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await deploymentList(connect(options));
  printAnswer(answer, options, ({ deployments }) =>
    renderTable(deployments, COLUMNS, "You have no deployments. Make one: berth deployment deploy DIR --image IMAGE"),
  );
}
