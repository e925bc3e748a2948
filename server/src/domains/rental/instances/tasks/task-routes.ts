import type { FastifyRequest } from "fastify";
import { invariant } from "../../../../base/invariant.ts";
import { originOf } from "../../../../http/origin.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import type { TaskMeans } from "../../tasks/index.ts";
import { cloudCopyRoutes } from "./cloud-copy-routes.ts";
import { cancelCopy, startCopy, type CopyMeans } from "./copy-service.ts";
import { openLocalCopy, requestCopySize, type LocalCopy } from "./local-copy-service.ts";
import { recycleInstance, updateSettings } from "./renewal-service.ts";
import { Done, IdParams } from "../schema.ts";
import { showInstances, type InstanceRequest, type Viewpoint } from "../service.ts";
import {
  CancelCopyBody,
  CommandAnswer,
  CommandBody,
  CopyAnswer,
  CopyBody,
  CopySizeBody,
  LogsAnswer,
  LogsBody,
  SettingsAnswer,
  SettingsBody,
  SnapshotBody,
} from "./task-schema.ts";
import { resultUrl } from "./result-url.ts";
import { executeCommand, requestLogs, takeSnapshot } from "./task-service.ts";

type WithId = FastifyRequest<{ Params: { id: number } }>;

function requestOf(request: WithId): InstanceRequest {
  const { userId } = identityOf(request);
  return { userId, instanceId: request.params.id, actor: `user:${userId}` };
}

/** Tasks of instances (logs, commands, copies, snapshots), reboots, and containers that are created again. */
export function instanceTaskRoutes(
  scope: HttpScope,
  { means, view, restore }: CopyMeans & { readonly view: Omit<Viewpoint, "now"> },
): void {
  registerResults(scope, means);
  registerSnapshots(scope, means);
  registerRenewal(scope, { view, encryption: means.encryption });
  registerCopies(scope, { means, restore }, view);
  registerCopySize(scope, means);
  cloudCopyRoutes(scope, means);
}

function registerResults({ app, mutate }: HttpScope, means: TaskMeans): void {
  app.put(
    "/api/v0/instances/request_logs/:id/",
    {
      config: { access: { operation: "api.instance.request_logs", permission: "instance_read" } },
      schema: {
        summary: "Fetch the logs of an instance",
        params: IdParams,
        body: LogsBody,
        response: { 200: LogsAnswer },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const token = await requestLogs(tx, means, requestOf(request), request.body);
        const msg = "The host was asked for the logs: get result_url until it answers.";
        return { success: true as const, result_url: resultUrl(originOf(request), token), msg };
      }),
  );
  app.put(
    "/api/v0/instances/command/:id/",
    {
      config: {
        access: { operation: "api.instance.execute", permission: "instance_write" },
        malformedJson: "as of commands",
      },
      schema: {
        summary: "Run ls, rm or du in the files of an instance",
        params: IdParams,
        body: CommandBody,
        response: { 200: CommandAnswer },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const token = await executeCommand(tx, means, requestOf(request), request.body.command);
        const msg = "The host was asked to run it: get result_url until it answers.";
        return { success: true as const, result_url: resultUrl(originOf(request), token), writeable_path: "", msg };
      }),
  );
}

function registerSnapshots({ app, mutate }: HttpScope, means: TaskMeans): void {
  app.post(
    "/api/v0/instances/take_snapshot/:id/",
    {
      config: { access: { operation: "api.instance.take_snapshot", permission: "instance_write" } },
      schema: {
        summary: "Make an image of an instance and push it to a registry",
        params: IdParams,
        body: SnapshotBody,
        response: { 200: Done },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const image = await takeSnapshot(tx, means, requestOf(request), request.body);
        const msg = `Instance ${request.params.id} is being pushed as ${image}: see its status_msg.`;
        return { success: true as const, msg };
      }),
  );
}

type Renewing = { readonly view: Omit<Viewpoint, "now">; readonly encryption: TaskMeans["encryption"] };

function registerRenewal({ app, mutate }: HttpScope, { view, encryption }: Renewing): void {
  app.put(
    "/api/v0/instances/recycle/:id/",
    {
      config: { access: { operation: "api.instance.recycle", permission: "instance_write" } },
      schema: {
        summary: "Create the container of an instance again from its freshly pulled image",
        params: IdParams,
        response: { 200: Done },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        await recycleInstance(tx, requestOf(request));
        return { success: true as const };
      }),
  );
  app.put(
    "/api/v0/instances/update_template/:id/",
    {
      config: { access: { operation: "api.instance.update_template", permission: "instance_write" } },
      schema: {
        summary: "Change image, environment and commands of an instance",
        params: IdParams,
        body: SettingsBody,
        response: { 200: SettingsAnswer },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const asked = requestOf(request);
        await updateSettings(tx, asked, request.body, encryption);
        const [record] = await showInstances(tx.db, [asked], { ...view, now: tx.now });
        invariant(record !== undefined, "an instance that was just changed is there");
        return { success: true as const, updated_instance: record, msg: `Instance ${record.id} updated.` };
      }),
  );
}

function registerCopies({ app, mutate }: HttpScope, means: CopyMeans, view: Omit<Viewpoint, "now">): void {
  for (const path of ["/api/v0/commands/copy_direct/", "/api/v0/commands/rsync/"]) {
    const isAlias = path.includes("rsync");
    app.put(
      path,
      {
        config: { access: { operation: "api.copy.start", permission: "instance_write", isAlias } },
        schema: {
          summary: "Copy between instances, volumes, backups and the own computer",
          body: CopyBody,
          response: { 200: CopyAnswer },
        },
      },
      (request) =>
        mutate(request, async (tx) => {
          const { userId } = identityOf(request);
          const local = await openLocalCopy(tx, view, userId, request.body);
          if (local !== undefined) return viewLocalCopy(local);
          const msg = await startCopy(tx, means, userId, request.body);
          return { success: true as const, msg };
        }),
    );
    app.delete(
      path,
      {
        config: { access: { operation: "api.copy.cancel", permission: "instance_write", isAlias } },
        schema: {
          summary: "Cancel the copies to an instance or volume",
          body: CancelCopyBody,
          response: { 200: Done },
        },
      },
      (request) =>
        mutate(request, async (tx) => {
          const msg = await cancelCopy(tx, identityOf(request).userId, request.body.dst_id);
          return { success: true as const, msg };
        }),
    );
  }
}

function registerCopySize({ app, mutate }: HttpScope, means: TaskMeans): void {
  app.post(
    "/api/v0/commands/get_copy_size/",
    {
      config: { access: { operation: "api.copy.size", permission: "instance_write" } },
      schema: { summary: "Measure what a copy would read", body: CopySizeBody, response: { 200: LogsAnswer } },
    },
    (request) =>
      mutate(request, async (tx) => {
        const token = await requestCopySize(tx, means, identityOf(request).userId, request.body);
        const msg = "The host was asked for the size: get result_url until it answers.";
        return { success: true as const, result_url: resultUrl(originOf(request), token), msg };
      }),
  );
}

function viewLocalCopy({ addr, port, isSource, ...rest }: LocalCopy) {
  const way = isSource ? { src_addr: addr, src_port: port } : { dst_addr: addr, dst_port: port };
  return { success: true as const, ...way, ...rest };
}
