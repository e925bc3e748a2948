import { deploymentVersions, type DeploymentVersionsAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Version = DeploymentVersionsAnswer["versions"][number];

const COLUMNS: readonly Column<Version>[] = [
  { title: "ID", cell: (version) => version.id },
  { title: "LABEL", cell: (version) => version.version_label },
  { title: "CODE", cell: (version) => version.file_hash.slice(0, 12) },
  { title: "BYTES", cell: (version) => version.file_size },
  { title: "IMAGE", cell: (version) => version.image },
  { title: "STATE", cell: stateText },
  { title: "CREATED", cell: (version) => dateText(version.created_at) },
];

export async function listDeploymentVersions(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await deploymentVersions(connect(options), { id });
  printAnswer(answer, options, ({ versions }) => renderTable(versions, COLUMNS, "This deployment has no version yet."));
}

function stateText({ state, is_current: isCurrent, is_last_healthy: isHealthy }: Version): string {
  if (!isCurrent) return isHealthy ? "ran well last" : state;
  return isHealthy ? "runs well" : "is being rolled out";
}
