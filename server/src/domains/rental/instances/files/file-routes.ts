import { randomBytes } from "node:crypto";
import { finished, Readable } from "node:stream";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyRequest } from "fastify";
import type { SFTPWrapper } from "ssh2";
import { conflict } from "../../../../base/errors.ts";
import { invariant } from "../../../../base/invariant.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { recordAudit } from "../../../people/accounts/index.ts";
import { IdParams } from "../schema.ts";
import { enterInstance } from "../shell/enter-instance.ts";
import { SessionPlaces } from "../shell/session-places.ts";
import { openShellSession, type ShellMeans } from "../shell/shell-session.ts";
import { EntryQuery, FileDone, Folder, FolderBody, PathQuery, UploadQuery } from "./file-schema.ts";
import { deleteEntry, listFolder, makeFolder, openFile, storeFile, tooLong } from "./file-service.ts";
import { watchBytes } from "./moving.ts";
import { attachmentOf, readEntryPath, readFilePath } from "./rules/file-path.ts";
import { refusalOf } from "./sftp.ts";

const PATH = "/api/v0/instances/:id/files/";
const CONTENT_PATH = `${PATH}content/`;
/** Bytes of one upload at most. */
const UPLOAD_BYTES_MAX = 10_000_000_000;
/** Times of sessions for a look or a change, and for the bytes of a file. */
const SHORT_MS = 60_000;
const LONG_MS = 3_600_000;
const ACCESS = { permission: "instance_write" } as const;

/** Files are opened by browsers too: what an instance holds never runs as a page of this server. */
const FILE_POLICY = "sandbox; default-src 'none'";

type WithId = FastifyRequest & { readonly params: { readonly id: number } };
type Opened = { readonly sftp: SFTPWrapper; readonly close: () => void };

/** Files of a running instance, over SFTP. Nothing here is a transaction: an instance's disk has none. */
export function fileRoutes(scope: HttpScope, means: Omit<ShellMeans, "clock">): void {
  const { database, clock } = scope;
  const places = new SessionPlaces((reason) =>
    conflict("too_many_file_requests", `Too many requests for files: ${reason}. Wait for one to end.`),
  );

  const open = async (request: WithId, limitMs: number): Promise<Opened> => {
    const { access } = request.routeOptions.config;
    invariant(access !== undefined, "every route has its access");
    const identity = identityOf(request);
    const run = await enterInstance(database.kysely, { identity, access, instanceId: request.params.id }, clock.now());
    const release = places.reserve({ ...run, userId: identity.userId });
    try {
      const session = await openShellSession({ ...means, clock }, run);
      session.over.addEventListener("abort", release, { once: true });
      // A program inside that never answers ends with its session.
      void clock.sleep(limitMs, session.over).then(session.close);
      return { sftp: await session.sftp(), close: session.close };
    } catch (error) {
      release();
      throw error;
    }
  };
  const work: Work = async (request, path, use, limitMs = SHORT_MS) => {
    const { sftp, close } = await open(request, limitMs);
    try {
      return await use(sftp);
    } catch (cause) {
      throw refusalOf(cause, path);
    } finally {
      close();
    }
  };
  const audit = (request: WithId, action: string, path: string) =>
    withTransaction(database, clock, (tx) =>
      recordAudit(tx, identityOf(request), { ipAddress: request.ip, action, args: { id: request.params.id, path } }),
    );

  registerFolders(scope, { work, audit });
  registerDownload(scope, open);
  registerUpload(scope, { work, audit });
}

type Work = <T>(request: WithId, path: string, use: (sftp: SFTPWrapper) => Promise<T>, limitMs?: number) => Promise<T>;
type Audit = (request: WithId, action: string, path: string) => Promise<void>;
type Means = { readonly work: Work; readonly audit: Audit };

function registerFolders({ app }: HttpScope, { work, audit }: Means): void {
  app.get(
    PATH,
    {
      config: { access: { operation: "api.instance.list_files", ...ACCESS } },
      schema: {
        summary: "List a folder of a running instance",
        params: IdParams,
        querystring: PathQuery,
        response: { 200: Folder },
      },
    },
    async (request) => {
      const path = readFilePath(request.query.path ?? "/");
      const { entries, isComplete } = await work(request, path, (sftp) => listFolder(sftp, path));
      return { success: true as const, path, entries, is_complete: isComplete };
    },
  );
  app.post(
    `${PATH}folders/`,
    {
      config: { access: { operation: "api.instance.make_folder", ...ACCESS } },
      schema: {
        summary: "Make a folder in a running instance",
        params: IdParams,
        body: FolderBody,
        response: { 200: FileDone },
      },
    },
    async (request) => {
      const path = readEntryPath(request.body.path);
      await work(request, path, (sftp) => makeFolder(sftp, path));
      await audit(request, "api.instance.make_folder", path);
      return { success: true as const, path };
    },
  );
  app.delete(
    PATH,
    {
      config: { access: { operation: "api.instance.delete_file", ...ACCESS } },
      schema: {
        summary: "Delete a file, a link or an empty folder of a running instance",
        params: IdParams,
        querystring: EntryQuery,
        response: { 200: FileDone },
      },
    },
    async (request) => {
      const path = readEntryPath(request.query.path);
      await work(request, path, (sftp) => deleteEntry(sftp, path));
      await audit(request, "api.instance.delete_file", path);
      return { success: true as const, path };
    },
  );
}

function registerDownload(
  { app, clock }: HttpScope,
  open: (request: WithId, limitMs: number) => Promise<Opened>,
): void {
  app.get(
    CONTENT_PATH,
    {
      config: { access: { operation: "api.instance.download_file", ...ACCESS } },
      schema: { hide: true, params: IdParams, querystring: EntryQuery },
    },
    async (request, reply) => {
      const path = readFilePath(request.query.path);
      const { sftp, close } = await open(request, LONG_MS);
      reply.raw.once("close", close);
      try {
        const { sizeBytes, bytes } = await openFile(sftp, path);
        const watch = watchBytes(clock, { limitBytes: sizeBytes, tooMany: () => tooLong(sizeBytes) });
        // The library may report a second failure, after the first has ended the answer.
        bytes.on("error", (error) => watch.destroy(error));
        watch.once("close", () => bytes.destroy());
        return await reply
          .type("application/octet-stream")
          .header("content-length", sizeBytes)
          .header("content-disposition", attachmentOf(path))
          .header("content-security-policy", FILE_POLICY)
          .send(sizeBytes === 0 ? Readable.from([]) : bytes.pipe(watch));
      } catch (cause) {
        close();
        throw refusalOf(cause, path);
      }
    },
  );
}

function registerUpload({ app, clock }: HttpScope, { work, audit }: Means): void {
  // A scope of its own, as the body is the file itself, which is read while it arrives.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, done) => done(null, undefined));
    scope.withTypeProvider<TypeBoxTypeProvider>().put(
      CONTENT_PATH,
      {
        config: { access: { operation: "api.instance.upload_file", ...ACCESS } },
        schema: { hide: true, params: IdParams, querystring: UploadQuery },
      },
      async (request) => {
        const { path: asked, overwrite: isOverwriting = false } = request.query;
        const path = readEntryPath(asked);
        if (Number(request.headers["content-length"] ?? 0) > UPLOAD_BYTES_MAX) throw tooLong(UPLOAD_BYTES_MAX);
        const upload = { path, isOverwriting, token: randomBytes(8).toString("hex") };
        // The sender may leave at any moment, also while nobody reads.
        request.raw.on("error", () => {});
        await work(
          request,
          path,
          async (sftp) => {
            const watch = watchBytes(clock, { limitBytes: UPLOAD_BYTES_MAX, tooMany: () => tooLong(UPLOAD_BYTES_MAX) });
            // The sender may have left while the session was opened.
            finished(request.raw, { writable: false }, (error) => {
              if (error) watch.destroy(error);
            });
            try {
              await storeFile(sftp, upload, request.raw.pipe(watch));
            } finally {
              watch.destroy();
              // The rest of the body is read and dropped, so that the sender can read the answer.
              request.raw.resume();
            }
          },
          LONG_MS,
        );
        await audit(request, "api.instance.upload_file", path);
        return { success: true as const, path };
      },
    );
  });
}
