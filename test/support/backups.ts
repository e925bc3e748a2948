import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import type { RawData } from "ws";
import { soon, testApp, type TestApp, type TestAppOptions } from "./app.ts";
import { aCaller, type TestCaller } from "./fixtures.ts";
import type { FakeHost } from "./hosts/fake-host.ts";
import { rentAndRun } from "./rentals.ts";

const run = promisify(execFile);

/** A script for `archiveOf`: one file in the layer of an instance. */
export const OF_AN_INSTANCE =
  "mkdir -p upper/root/data && echo kept > upper/root/data/file && chmod 640 upper/root/data/file";

export type BackupWorld = {
  readonly world: TestApp;
  readonly admin: TestCaller;
  /** The operator's folder of backups. */
  readonly folder: string;
  readonly files: () => Promise<readonly string[]>;
  /** Wants backups of all that is on the machine, and has its host asked; returns what the operator reads. */
  readonly ask: (host: FakeHost) => Promise<string>;
};

/** A server that makes backups, of a megabyte at most unless a test says otherwise. */
export async function aBackupWorld(t: TestContext, options: TestAppOptions = {}): Promise<BackupWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-backups-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const world = await testApp(t, {
    backups: { directory: folder, limitBytes: 1_000_000, keptDays: 30 },
    ...options,
  });
  const admin = await aCaller(world.env.database, { isAdmin: true });
  return {
    world,
    admin,
    folder,
    files: async () => (await readdir(folder)).toSorted(),
    ask: async (host) => {
      const url = `/api/v0/admin/machines/${host.machineId}/backups/`;
      const answer = await world.call({ method: "POST", url, secret: admin.secret, body: {} });
      assert.equal(answer.status, 200, answer.text);
      await world.runLoop("start-backups");
      return String(answer.body.msg);
    },
  };
}

/** A volume of the user's on the host's own disk; its id is the next free one unless it is given. */
export async function aVolume({ world }: BackupWorld, user: TestCaller, host: FakeHost, endAt: Date, id?: number) {
  const { rows } = await world.env.pool.query<{ id: number }>(
    `with offer as (
       insert into volume_offers (machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at, unlisted_at)
       values ($2, 1000000000, 0, '2100-01-01', now(), now(), now()) returning id
     )
     insert into volumes (id, user_id, machine_id, volume_offer_id, name, size_bytes, price_nanos_per_gb_month, end_at, created_at)
     overriding system value
     select coalesce($4, nextval(pg_get_serial_sequence('volumes', 'id')))::integer, $1, $2, id, '', 1000000000, 0, $3, now()
     from offer returning id`,
    [user.id, host.machineId, endAt, id ?? null],
  );
  return rows[0]?.id ?? 0;
}

/** The transfer that the host was asked for in its last task. */
export async function askedFor(host: FakeHost, count = 1) {
  const task = (await host.tasks(count)).at(-1);
  assert.ok(task !== undefined && "transfer_id" in task.action, JSON.stringify(task));
  return { taskId: task.task_id, transferId: task.action.transfer_id, action: task.action };
}

/** A host with one instance of the user's, of which the operator has asked for a backup. */
export async function aBackedUp(t: TestContext, options: TestAppOptions = {}) {
  const all = await aBackupWorld(t, options);
  const { world, ask } = all;
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await ask(host);
  return { ...all, host, user, id, ...(await askedFor(host)) };
}

type At = Pick<BackupWorld, "world">;

/** The user's backups as the API lists them: all, or those of one contract. */
export async function listBackups({ world }: At, user: TestCaller, contractId?: number) {
  const url = `/api/v0/instance_backups/${contractId === undefined ? "" : `?contract_id=${contractId}`}`;
  const { status, body } = await world.call({ url, secret: user.secret });
  assert.equal(status, 200);
  return body.backups as Record<string, unknown>[];
}

/** The answer with the files of a contract's newest backup. */
export const filesOf = ({ world }: At, user: TestCaller, id: number) =>
  world.call({ url: `/api/v0/instance_backups/${id}/download/`, secret: user.secret });

/** The answer to a wish to copy files. */
export const copyFiles = ({ world }: At, user: TestCaller, body: object) =>
  world.call({ method: "PUT", url: "/api/v0/commands/copy_direct/", secret: user.secret, body });

/** One connection of a host for a transfer, with what it hears: texts, and the bytes of binary messages. */
export async function connectFor(host: FakeHost, transferId: string, side: "send" | "receive") {
  const socket = host.dial(`transfer/${transferId}/${side}`);
  const said: string[] = [];
  const parts: Buffer[] = [];
  let isWhole = false;
  socket.on("error", () => {});
  socket.on("message", (data: RawData, isBinary) => {
    const bytes = data as Buffer;
    if (!isBinary) said.push(String(bytes));
    else if (bytes.length === 0) isWhole = true;
    else parts.push(bytes);
  });
  const closed = once(socket, "close").then(([code]) => code as number);
  const status = await Promise.race([
    once(socket, "open").then(() => 101),
    once(socket, "unexpected-response").then(([, response]: { statusCode: number }[]) => response?.statusCode),
  ]);
  return { socket, said, status, closed, bytes: () => Buffer.concat(parts), isWhole: () => isWhole };
}

export const START = JSON.stringify({ kind: "transfer_start", shape: "contents", name: "" });
export const END = Buffer.alloc(0);

/** Sends a whole backup as an agent does; returns the last word of the server. */
export async function sendBackup(host: FakeHost, transferId: string, archive: Buffer): Promise<string> {
  const line = await connectFor(host, transferId, "send");
  assert.equal(line.status, 101);
  await soon("the server to be ready", () => line.said.length > 0);
  line.socket.send(START);
  for (let at = 0; at < archive.length; at += 65_536) line.socket.send(archive.subarray(at, at + 65_536));
  line.socket.send(END);
  await line.closed;
  return line.said.at(-1) ?? "";
}

/** Receives files of a backup as an agent does; the archive, and how the server announced it. */
export async function receiveFiles(host: FakeHost, transferId: string) {
  const line = await connectFor(host, transferId, "receive");
  assert.equal(line.status, 101);
  await soon(
    "all of it, or a refusal",
    () => line.isWhole() || line.said.some((text) => text.includes("transfer_end")),
  );
  const [, announced = "{}"] = line.said;
  if (line.isWhole()) line.socket.send(JSON.stringify({ kind: "transfer_end", is_success: true, text: "" }));
  await line.closed;
  return { start: JSON.parse(announced) as Record<string, unknown>, archive: line.bytes() };
}

/** A compressed archive that the script fills, made by the busybox of this machine. */
export async function archiveOf(t: TestContext, script: string): Promise<Buffer> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-tree-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await run("sh", ["-ec", `cd ${folder} && ${script}`]);
  const options = { encoding: "buffer" as const, maxBuffer: 64_000_000 };
  return (await run("sh", ["-c", `cd ${folder} && busybox tar -c -f - . | gzip -1`], options)).stdout;
}

/** The entries of an archive, as `ls` shows them: type and mode, owner, bytes, path and target; and the folder it is unpacked to. */
export async function unpack(t: TestContext, archive: Buffer): Promise<{ list: string[]; folder: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-unpacked-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, "archive.tar.gz");
  await writeFile(file, archive);
  const { stdout } = await run("tar", ["--numeric-owner", "-tvzf", file]);
  const tree = path.join(folder, "tree");
  await mkdir(tree);
  await run("busybox", ["tar", "-x", "-z", "-f", file, "-C", tree]);
  const list = stdout.trimEnd().split("\n");
  return { list: list.map((line) => line.replace(/\s+(\d+) \S+ \S+ /, " $1 ")), folder: tree };
}
