import { cloudCancelCopy, cloudCopy } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import type { Place } from "../../parse.ts";

type Options = ConnectionOptions & { readonly json?: boolean };

export type CloudPlace = { readonly id: number; readonly path: string };

const FLAGS = { dryRun: "--dry-run", sizeOnly: "--size-only", ignoreExisting: "--ignore-existing", update: "--update" };

type CopyOptions = Options & { readonly [name in keyof typeof FLAGS]?: boolean };

export async function copyWithCloud(
  { place, cloud, isUpload }: { readonly place: Place; readonly cloud: CloudPlace; readonly isUpload: boolean },
  { dryRun, sizeOnly, ignoreExisting, update, ...options }: CopyOptions,
): Promise<void> {
  const chosen = { dryRun, sizeOnly, ignoreExisting, update };
  const flags = Object.entries(FLAGS).flatMap(([name, flag]) => (Reflect.get(chosen, name) === true ? [flag] : []));
  const [src, dst] = isUpload ? [place.path, cloud.path] : [cloud.path, place.path];
  const transfer = isUpload ? "Instance To Cloud" : "Cloud To Instance";
  const body = { instance_id: place.id, selected: String(cloud.id), src, dst, transfer, flags };
  const answer = await cloudCopy(connect(options), { body });
  printAnswer(answer, options, ({ msg, result_url: url }) => `${msg}\n${url}`);
}

export async function cancelCloudCopy(placeId: string, options: Options): Promise<void> {
  const answer = await cloudCancelCopy(connect(options), { body: { dst_id: placeId } });
  printAnswer(answer, options, ({ msg }) => msg ?? `Copies between ${placeId} and clouds are cancelled.`);
}
