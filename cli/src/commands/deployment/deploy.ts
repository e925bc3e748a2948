import path from "node:path";
import { deploymentDeploy, type DeploymentDeployAnswer } from "../../../../sdk/src/operations.ts";
import { uploadFile } from "../../../../sdk/src/upload.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";
import { parametersOf, type ParameterOptions } from "../endpoint/parameters.ts";
import { withPacked } from "./pack.ts";

type Options = ConnectionOptions &
  ParameterOptions & {
    readonly image: string;
    readonly tag?: string;
    readonly env?: string;
    readonly search?: string;
    readonly disk?: number;
    readonly ttl?: number;
    readonly label?: string;
    readonly json?: boolean;
  };

/** Packs a directory and makes or changes a deployment of it; code that the server has is not sent again. */
export async function deployDirectory(directory: string, options: Options): Promise<void> {
  const { name = path.basename(path.resolve(directory)), ...scaling } = options;
  const answer = await withPacked(directory, name, async (packed) => {
    const body = {
      ...parametersOf(scaling),
      ...given({
        tag: options.tag,
        env: options.env,
        search_params: options.search,
        storage: options.disk,
        ttl: options.ttl,
        version_label: options.label,
      }),
      name,
      image: options.image,
      file_hash: packed.sha256,
      file_size: packed.sizeBytes,
    };
    const made = await deploymentDeploy(connect(options), { body });
    if (made.upload_url !== undefined) {
      await uploadFile({ url: made.upload_url, fields: made.upload_fields ?? {} }, packed.file);
    }
    return made;
  });
  printAnswer(answer, options, wordsOf);
}

function wordsOf({ action, deployment_id: id, endpoint_id: endpointId }: DeploymentDeployAnswer): string {
  const next = `See what follows with: berth endpoint explain ${endpointId}`;
  switch (action) {
    case "created":
      return `Deployment ${id} is created, with endpoint group ${endpointId}. ${next}`;
    case "soft_update":
      return `Deployment ${id} is changed: its workers are updated one after the other. ${next}`;
    case "autoscale_update":
      return `Deployment ${id} is changed; its workers stay as they are. ${next}`;
    default:
      return `Deployment ${id} has no changes.`;
  }
}
