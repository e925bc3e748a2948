import { notFound } from "../../../base/errors.ts";
import type { HttpScope } from "../../../http/server.ts";
import { fileNameOf, type BackupSettings } from "./backup.ts";
import type { FileTokens } from "./file-address.ts";
import { BackupFolder } from "./folder.ts";
import { FileParams, FileQuery } from "./schema.ts";
import { listNewest } from "./store.ts";

/**
 * Serves the files of backups. The token is the credential, as the whole value of the header or in the query; a key of an
 * account opens nothing here, so the route is not among the operations of the SDK.
 */
export function fileRoutes(
  { app, database, clock }: HttpScope,
  { tokens, settings }: { readonly tokens: FileTokens; readonly settings: BackupSettings | undefined },
): void {
  app.get(
    "/api/v0/instance_backups/:contract_id/files/:name/",
    {
      config: { access: { operation: "api.backup.file", permission: "public" } },
      schema: { hide: true, params: FileParams, querystring: FileQuery },
    },
    async (request, reply) => {
      const { contract_id: contractId, name } = request.params;
      const given = request.headers.authorization ?? request.query.Authorization ?? "";
      const token = given.replace(/^bearer\s+/i, "");
      const userId = tokens.read(token, contractId, clock.now());
      if (userId === undefined || settings === undefined) throw noSuchFile();
      const backups = await listNewest(database.kysely, userId, contractId);
      const backup = backups.find(({ contract }) => fileNameOf(contract) === name);
      const opened = backup && (await new BackupFolder(settings.directory).openWhole(backup));
      if (opened === undefined) throw noSuchFile();
      return reply
        .type("application/gzip")
        .header("content-length", opened.sizeBytes)
        .header("content-disposition", `attachment; filename="${name}"`)
        .header("cache-control", "no-store")
        .header("x-content-type-options", "nosniff")
        .send(opened.handle.createReadStream());
    },
  );
}

/** One answer for a wrong token, an expired one and a backup that is gone. */
function noSuchFile() {
  return notFound(
    "no_such_backup",
    "There is no file for this token: it may have expired. Get a new one from /api/v0/instance_backups/{contract_id}/download/.",
  );
}
