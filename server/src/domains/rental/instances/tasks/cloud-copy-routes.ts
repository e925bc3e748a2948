import { originOf } from "../../../../http/origin.ts";
import { Type } from "typebox";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import type { TaskMeans } from "../../tasks/index.ts";
import { Done } from "../schema.ts";
import { cancelCloudCopy, startCloudCopy } from "./cloud-copy-service.ts";
import { resultUrl } from "./result-url.ts";
import { LogsAnswer } from "./task-schema.ts";

const PATH = "/api/v0/commands/rclone/";

const text = (description: string, example: string) =>
  Type.Optional(Type.String({ maxLength: 8192, description, examples: [example] }));
const idOrText = (description: string, example: string) =>
  Type.Union([Type.String({ maxLength: 64 }), Type.Integer()], { description, examples: [example] });

const CloudCopyBody = Type.Object(
  {
    instance_id: Type.Optional(idOrText("Id of the instance; `V.7` for a volume", "77")),
    src: text("Path of the files to copy; in the storage it begins with a bucket", "/workspace/out"),
    dst: text("Folder that gets them; in the storage it begins with a bucket", "bucket/out"),
    selected: Type.Optional(idOrText("Id of the connection", "3")),
    transfer: text("Direction: `Instance To Cloud` or `Cloud To Instance`, in any letter case", "Instance To Cloud"),
    flags: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: 16,
        description: "`--dry-run`, `--size-only`, `--ignore-existing`, `--update` or `--delete-excluded`",
        examples: [["--dry-run"]],
      }),
    ),
  },
  { additionalProperties: true },
);

const CancelCloudCopyBody = Type.Object(
  { dst_id: idOrText("Id of the instance that is copied from or to; `V.7` for a volume", "77") },
  { additionalProperties: true },
);

/** Copies between instances or volumes and cloud storage (docs/clouds.md). */
export function cloudCopyRoutes({ app, mutate }: HttpScope, means: TaskMeans): void {
  app.post(
    PATH,
    {
      config: { access: { operation: "api.cloud.copy", permission: "instance_write" } },
      schema: {
        tags: ["Instances"],
        summary: "Copy from or to a cloud storage",
        body: CloudCopyBody,
        response: { 200: LogsAnswer },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { token, msg } = await startCloudCopy(tx, means, identityOf(request).userId, request.body);
        return { success: true as const, result_url: resultUrl(originOf(request), token), msg };
      }),
  );
  app.delete(
    PATH,
    {
      config: { access: { operation: "api.cloud.cancel_copy", permission: "instance_write" } },
      schema: {
        tags: ["Instances"],
        summary: "Cancel the cloud copies of an instance or volume",
        body: CancelCloudCopyBody,
        response: { 200: Done },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const msg = await cancelCloudCopy(tx, identityOf(request).userId, request.body.dst_id);
        return { success: true as const, msg };
      }),
  );
}
