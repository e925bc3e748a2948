import { invariant } from "../../../base/invariant.ts";
import { asId, type MachineId } from "../../../base/ids.ts";
import { originOf } from "../../../http/origin.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { fileNameOf, type BackupSettings } from "./backup.ts";
import { fileTokens, VALID_S, type FileTokens } from "./file-address.ts";
import { fileRoutes } from "./file-routes.ts";
import { AskedAnswer, BackupFilesAnswer, BackupParams, BackupQuery, BackupsAnswer, MachineParams } from "./schema.ts";
import { askForBackups, requireBackups } from "./service.ts";
import { listBackups } from "./store.ts";
import { noteOn, viewBackup } from "./views.ts";

const LISTED_MAX = 1_000;

export type BackupPorts = {
  readonly secret: Buffer;
  readonly settings: BackupSettings | undefined;
  /** Has wanted backups started at once. */
  readonly wakeStarter: () => void;
};

/** Backups that the operator keeps of instances and volumes: their owners' reads, and the operator's request. */
export function backupRoutes(scope: HttpScope, ports: BackupPorts): void {
  const { settings } = ports;
  const tokens = fileTokens(ports.secret);
  listRoute(scope, settings);
  downloadRoute(scope, { settings, tokens });
  fileRoutes(scope, { settings, tokens });
  requestRoute(scope, ports);
}

function listRoute({ app, database }: HttpScope, settings: BackupSettings | undefined): void {
  app.get(
    "/api/v0/instance_backups/",
    {
      config: { access: { operation: "api.backup.list", permission: "instance_read" } },
      schema: {
        tags: ["Instances"],
        summary: "List backups of instances and volumes",
        querystring: BackupQuery,
        response: { 200: BackupsAnswer },
      },
    },
    async (request) => {
      const { contract_id: contractId } = request.query;
      const { userId } = identityOf(request);
      const found = await listBackups(database.kysely, userId, { contractId, limit: LISTED_MAX });
      const msg = noteOn(settings);
      const backups = found.map((backup) => viewBackup({ settings }, backup));
      return { success: true as const, backups, ...(msg === undefined ? {} : { msg }) };
    },
  );
}

function downloadRoute(
  { app, database, clock }: HttpScope,
  { settings, tokens }: { readonly settings: BackupSettings | undefined; readonly tokens: FileTokens },
): void {
  app.get(
    "/api/v0/instance_backups/:contract_id/download/",
    {
      config: { access: { operation: "api.backup.files", permission: "instance_read" } },
      schema: {
        tags: ["Instances"],
        summary: "List the files of a backup",
        params: BackupParams,
        response: { 200: BackupFilesAnswer },
      },
    },
    async (request) => {
      const { contract_id: contractId } = request.params;
      const owner = { userId: identityOf(request).userId, contractId };
      const backups = await requireBackups(database.kysely, settings, owner);
      return {
        authorization_token: tokens.make(owner, clock.now()),
        expires_in_sec: VALID_S,
        truncated: false,
        files: backups.map(({ contract, sizeBytes }) => {
          invariant(sizeBytes !== null, "a whole backup has a size");
          const name = fileNameOf(contract);
          const url = `${originOf(request)}/api/v0/instance_backups/${contractId}/files/${name}`;
          return { name, size: Number(sizeBytes), url };
        }),
      };
    },
  );
}

function requestRoute({ app, mutate }: HttpScope, { settings, wakeStarter }: BackupPorts): void {
  app.post(
    "/api/v0/admin/machines/:id/backups/",
    {
      config: { access: { operation: "api.admin.machine.back_up", permission: "admin" } },
      schema: {
        tags: ["Administration"],
        summary: "Make backups of all instances and volumes on a machine",
        params: MachineParams,
        response: { 200: AskedAnswer },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { id } = request.params;
        const queued = await askForBackups(tx, settings, asId<MachineId>(id));
        tx.afterCommit(wakeStarter);
        const start =
          queued === 1
            ? `1 backup of machine ${id} is wanted; it`
            : `${queued} backups of machine ${id} are wanted; each`;
        const msg = `${start} is made when its turn comes.`;
        return { success: true as const, queued, msg };
      }),
  );
}
