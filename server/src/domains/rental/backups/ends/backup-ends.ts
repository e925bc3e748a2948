import type { WebSocket } from "ws";
import { decodeTransferMessage, type TransferMessage } from "../../../../../../protocol/index.ts";
import { transferSocket } from "../../../../../../tunnel/transfer-socket.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { InstanceBackupId } from "../../../../base/ids.ts";
import type { Log } from "../../../../base/log.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { findBackupTransfer, setEnd, type BackupTransfer } from "../../tasks/index.ts";
import { NO_FOLDER, type BackupSettings } from "../backup.ts";
import { BackupFolder, type FileId } from "../folder.ts";
import { beginAttempt, findWhole, setProblem, setSuccess } from "../store.ts";
import { receiveBackup, type Connection } from "./receive.ts";
import { sendFiles } from "./send.ts";

type Means = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: BackupSettings | undefined;
};

/** Connections of each direction at once; a host that comes then tries again. Sent files are unpacked on the way. */
const RECEIVED_MAX = 32;
const SENT_MAX = 8;

const SPELLING = {
  read: decodeTransferMessage,
  write: (message: TransferMessage) => JSON.stringify(message),
};

/** This server's half of transfers whose other end is a backup. */
export class BackupEnds {
  readonly #means: Means;
  readonly #folder: BackupFolder | undefined;
  readonly #running = { receive: 0, send: 0 };
  readonly #work = new Set<Promise<void>>();
  /** The newest connection of each transfer. */
  readonly #newest = new Map<string, WebSocket>();

  constructor(means: Means) {
    this.#means = means;
    this.#folder = means.settings && new BackupFolder(means.settings.directory);
  }

  /**
   * The function that takes a host's connection for a transfer; undefined for a transfer between hosts, and "busy" when
   * the host has to come later.
   */
  async find(transferId: string): Promise<((socket: WebSocket) => void) | "busy" | undefined> {
    const { database, clock } = this.#means;
    const transfer = await findBackupTransfer(database.kysely, { transferId, now: clock.now() });
    if (transfer === undefined) return undefined;
    const direction = transfer.action.type === "back_up" ? "receive" : "send";
    if (this.#running[direction] >= (direction === "receive" ? RECEIVED_MAX : SENT_MAX)) return "busy";
    return (socket) => {
      // An older connection of the same host must be dead, or the host wants more than its share of disk and places.
      this.#newest.get(transferId)?.terminate();
      this.#newest.set(transferId, socket);
      this.#running[direction] += 1;
      const work = this.#serve(transfer, socket).finally(() => {
        this.#running[direction] -= 1;
        this.#work.delete(work);
        if (this.#newest.get(transferId) === socket) this.#newest.delete(transferId);
      });
      this.#work.add(work);
    };
  }

  /** Resolves when no connection is being served; none may arrive any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#work);
  }

  async #serve({ backupId, action }: BackupTransfer, socket: WebSocket): Promise<void> {
    const connection = transferSocket<TransferMessage>(socket, SPELLING);
    connection.say({ kind: "transfer_joined" });
    try {
      if (this.#folder === undefined || this.#means.settings === undefined) {
        return await this.#refuse(connection, backupId, NO_FOLDER);
      }
      if (action.type === "back_up") await this.#receive(connection, backupId, this.#folder, this.#means.settings);
      else if (action.type === "receive") await this.#send(connection, backupId, this.#folder, action.source.path);
    } catch (error) {
      // The host connects again, and begins again.
      this.#means.log.error({ err: error, backup_id: backupId }, "a connection for a backup failed");
    } finally {
      connection.close();
    }
  }

  async #receive(connection: Connection, id: InstanceBackupId, folder: BackupFolder, settings: BackupSettings) {
    const { database, clock } = this.#means;
    const begun = await withTransaction(database, clock, (tx) => beginAttempt(tx, id));
    if (begun === undefined) return say(connection, "the backup is not wanted any more");
    const file: FileId = { id, attempt: begun.attempt };
    const received = await receiveBackup({ connection, folder, file, clock, settings });
    if (received.kind === "broken") return;
    if (received.kind === "refused") return this.#refuse(connection, id, received.problem);
    const { sizeBytes } = received;
    const isStored = await withTransaction(database, clock, async (tx) => {
      const isWanted = await setSuccess(tx, { ...file, sizeBytes });
      if (isWanted) await setEnd(tx, id, { isSuccess: true, text: `${sizeBytes} bytes` });
      return isWanted;
    });
    if (!isStored) return folder.remove({ ...file, isDraft: false });
    connection.say({ kind: "transfer_end", is_success: true, text: "" });
  }

  async #send(connection: Connection, id: InstanceBackupId, folder: BackupFolder, path: string) {
    const { database, clock } = this.#means;
    const backup = await findWhole(database.kysely, id);
    const opened = backup && (await folder.openWhole(backup));
    if (opened === undefined) return say(connection, "the backup was deleted");
    try {
      await sendFiles({ connection, handle: opened.handle, path, clock });
    } finally {
      await opened.handle.close();
    }
  }

  /** Gives a backup up. */
  async #refuse(connection: Connection, id: InstanceBackupId, problem: string): Promise<void> {
    const { database, clock } = this.#means;
    await withTransaction(database, clock, async (tx) => {
      await setProblem(tx, id, problem);
      await setEnd(tx, id, { isSuccess: false, text: problem });
    });
    say(connection, problem);
  }
}

function say(connection: Connection, text: string): void {
  connection.say({ kind: "transfer_end", is_success: false, text });
}
