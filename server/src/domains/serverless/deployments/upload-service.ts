import { conflict, invalid, notFound } from "../../../base/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import type { DeploymentFileId, DeploymentVersionId } from "../../../base/ids.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import type { WorkerGroupPorts } from "../worker-groups/service.ts";
import { CODE_BYTES_MAX, noRoomForCode } from "./deployment.ts";
import { lockDeployment, markUpdated } from "./deployment-store.ts";
import { runVersion } from "./run-service.ts";
import {
  completeFile,
  countUploads,
  deleteFile,
  findCompleteFile,
  findPiece,
  findVersion,
  insertFile,
  insertPiece,
  setCodeSize,
  sumCodeBytesOf,
  type StoredFile,
  type StoredVersion,
} from "./version-store.ts";

type Means = { readonly database: Database; readonly clock: Clock; readonly ports: WorkerGroupPorts };

const PIECE_BYTES = 1024 * 1024;
/** Concurrent uploads of one deployment: a client that tries again may not know yet that its first try broke off. */
const UPLOADS_MAX = 4;

/**
 * Stores the code of a version as it arrives and, once all of it is there with the announced size, lets workers run
 * it if it is still wanted. A failure before that leaves nothing behind; two uploads of the same code do no harm. The
 * hash is not checked against the bytes: published clients compute it from the content of the file.
 */
export async function storeUpload(
  { database, clock, ports }: Means,
  versionId: DeploymentVersionId,
  file: AsyncIterable<Buffer>,
): Promise<void> {
  const { version, fileId } = await withTransaction(database, clock, (tx) => begin(tx, versionId));
  try {
    const write = (position: number, bytes: Buffer) =>
      withTransaction(database, clock, async (tx) => {
        if (!(await insertPiece(tx, { fileId, position, bytes }))) throw noSuchFile();
      });
    await receive(file, version, write);
    await withTransaction(database, clock, (tx) => finish(tx, { version, fileId }, ports));
  } catch (error) {
    await withTransaction(database, clock, (tx) => deleteFile(tx, fileId));
    throw error;
  }
}

async function begin(
  tx: Tx,
  versionId: DeploymentVersionId,
): Promise<{ readonly version: StoredVersion; readonly fileId: DeploymentFileId }> {
  const named = await findVersion(tx.db, versionId);
  const deployment = named && (await lockDeployment(tx, named.deploymentId));
  const version = deployment && (await findVersion(tx.db, versionId));
  if (version === undefined) throw noSuchFile();
  if ((await countUploads(tx.db, version.deploymentId)) >= UPLOADS_MAX) {
    throw conflict("too_many_uploads", "Several uploads to this deployment are under way; wait for one to end.");
  }
  return { version, fileId: await insertFile(tx, version) };
}

/** Checks the arriving bytes and passes them on in pieces of one size; the next is read only after one is written. */
async function receive(
  file: AsyncIterable<Buffer>,
  { sizeBytes }: Pick<StoredVersion, "sizeBytes">,
  write: (position: number, bytes: Buffer) => Promise<void>,
): Promise<void> {
  const gathered: Buffer[] = [];
  let [gatheredBytes, totalBytes, position] = [0, 0, 0];
  const flush = async () => {
    const bytes = Buffer.concat(gathered.splice(0));
    gatheredBytes = 0;
    await write(position, bytes);
    position += 1;
  };
  for await (const part of file) {
    totalBytes += part.length;
    if (totalBytes > sizeBytes) throw invalid("file", `file: it has more than the ${sizeBytes} bytes of file_size`);
    gathered.push(part);
    gatheredBytes += part.length;
    if (gatheredBytes >= PIECE_BYTES) await flush();
  }
  if (totalBytes < sizeBytes) {
    throw invalid("file", `file: ${totalBytes} bytes came instead of the ${sizeBytes} of file_size`);
  }
  if (gatheredBytes > 0) await flush();
}

async function finish(
  tx: Tx,
  { version, fileId }: { readonly version: StoredVersion; readonly fileId: DeploymentFileId },
  ports: WorkerGroupPorts,
): Promise<void> {
  const deployment = await lockDeployment(tx, version.deploymentId);
  if (deployment === undefined || (await findVersion(tx.db, version.id)) === undefined) throw noSuchFile();
  if ((await findCompleteFile(tx.db, version)) !== undefined) {
    // Another upload of the same code was faster, and did the following steps.
    await deleteFile(tx, fileId);
    return;
  }
  if (!(await completeFile(tx, fileId))) throw noSuchFile();
  // The code may have been announced again meanwhile, with another size.
  await setCodeSize(tx, version);
  if ((await sumCodeBytesOf(tx.db, deployment.userId)) > CODE_BYTES_MAX) throw noRoomForCode();
  const { wantedVersionId } = deployment;
  const wanted = wantedVersionId === undefined ? undefined : await findVersion(tx.db, wantedVersionId);
  // Another version may have been requested meanwhile.
  if (wanted === undefined || !wanted.isComplete || wanted.id === deployment.currentVersionId) return;
  await runVersion(tx, deployment, wanted.id, ports);
  await markUpdated(tx, deployment.id);
}

/** The code of a version, if all of it is there: its size, and its pieces in order, each read on demand. */
export async function openFile(
  { kysely }: Pick<Database, "kysely">,
  versionId: DeploymentVersionId,
): Promise<{ readonly sizeBytes: number; readonly fileHash: string; readonly pieces: AsyncIterable<Buffer> }> {
  const version = await findVersion(kysely, versionId);
  const file = version && (await findCompleteFile(kysely, version));
  if (version === undefined || file === undefined) throw noSuchFile();
  return { sizeBytes: file.sizeBytes, fileHash: version.fileHash, pieces: readPieces({ kysely }, file) };
}

async function* readPieces(
  { kysely }: Pick<Database, "kysely">,
  { id, sizeBytes }: StoredFile,
): AsyncGenerator<Buffer> {
  let sentBytes = 0;
  for (let position = 0; sentBytes < sizeBytes; position += 1) {
    const bytes = await findPiece(kysely, id, position);
    // The deployment may be deleted meanwhile: then the answer breaks off, which its reader sees.
    if (bytes === undefined) throw noSuchFile();
    sentBytes += bytes.length;
    yield bytes;
  }
}

export function noSuchFile() {
  return notFound("no_such_file", "There is no file here: the address is wrong or expired, or the code was deleted.");
}
