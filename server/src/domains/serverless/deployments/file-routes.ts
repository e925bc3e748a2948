import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { finished, Readable } from "node:stream";
import type { Static } from "typebox";
import { AppError, invalid } from "../../../base/errors.ts";
import type { DeploymentVersionId } from "../../../base/ids.ts";
import type { HttpScope } from "../../../http/server.ts";
import type { WorkerGroupPorts } from "../worker-groups/service.ts";
import type { FileAddresses, FileUse } from "./file-address.ts";
import { FilePath } from "./schema.ts";
import { noSuchFile, openFile, storeUpload } from "./upload-service.ts";

const PATH = "/api/v0/deployment/:id/files/:token/";

/**
 * Routes for uploads and downloads of code; the address itself is the credential. The bodies are not JSON, and
 * clients follow addresses that an answer gave them, so these routes are not among the operations of the SDK.
 */
export function fileRoutes(
  { app, database, clock }: HttpScope,
  { addresses, ...ports }: WorkerGroupPorts & { readonly addresses: FileAddresses },
): void {
  const requireVersion = (use: FileUse, { id, token }: Static<typeof FilePath>): DeploymentVersionId => {
    const version = addresses.read(use, { deploymentId: id, token }, clock.now());
    if (version === undefined) throw noSuchFile();
    return version;
  };

  app.get(
    PATH,
    {
      config: { access: { operation: "api.deployment.file", permission: "public" } },
      schema: { hide: true, params: FilePath },
    },
    async (request, reply) => {
      const { sizeBytes, fileHash, pieces } = await openFile(database, requireVersion("download", request.params));
      return reply
        .type("application/gzip")
        .header("content-length", sizeBytes)
        .header("content-disposition", `attachment; filename="${fileHash}.tar.gz"`)
        .header("cache-control", "no-store")
        .header("x-content-type-options", "nosniff")
        .send(Readable.from(pieces, { objectMode: false }));
    },
  );

  // A scope of its own, as the body is a form that is read while it arrives.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("multipart/form-data", (_request, _body, done) => done(null, undefined));
    scope.post(
      PATH,
      {
        config: { access: { operation: "api.deployment.upload", permission: "public" } },
        schema: { hide: true, params: FilePath },
      },
      async (request) => {
        const version = requireVersion("upload", request.params as Static<typeof FilePath>);
        const contentType = request.headers["content-type"] ?? "";
        await takeFile(request.raw, contentType, (file) => storeUpload({ database, clock, ports }, version, file));
        return { success: true };
      },
    );
  });
}

const FIELDS_MAX = 32;
const FIELD_BYTES_MAX = 16_384;

/**
 * Reads a form and gives its one file to `use` while it arrives; resolves with the result of `use`. If the form
 * breaks off or is malformed, the file ends with an error and the request is refused. If `use` fails, the rest of the
 * body is ignored.
 */
async function takeFile<T>(
  source: Readable,
  contentType: string,
  use: (file: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const form = openForm(contentType);
  let file: BusboyFileStream | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      // The reader of the file sees the error there, and reports it after it has cleaned up.
      const fail = (cause: unknown) => {
        if (file === undefined) reject(brokenForm(cause));
        else file.destroy(brokenForm(cause));
      };
      form.on("file", (_name, stream) => {
        if (file !== undefined) return void stream.resume();
        file = stream;
        stream.on("error", () => {});
        use(stream).then(resolve, (error: unknown) => {
          const isOfForm = error === stream.errored && !(error instanceof AppError);
          reject(isOfForm ? brokenForm(error) : error);
        });
      });
      form.on("finish", () => {
        if (file === undefined) reject(invalid("file", "file: the form has no file"));
      });
      form.on("error", fail);
      finished(source, { writable: false }, (error) => {
        if (error) fail(error);
      });
      source.pipe(form);
    });
  } finally {
    // The rest of the body is read and dropped, so that the sender can read the answer.
    source.unpipe(form);
    source.resume();
  }
}

function brokenForm(cause: unknown): AppError {
  return invalid("file", "file: the body is not a complete multipart form", "invalid_args", { cause });
}

function openForm(contentType: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: { files: 1, fields: FIELDS_MAX, fieldSize: FIELD_BYTES_MAX, headerPairs: 64 },
    });
  } catch (cause) {
    throw invalid("Content-Type", "Content-Type must be multipart/form-data with a boundary", "invalid_args", {
      cause,
    });
  }
}
