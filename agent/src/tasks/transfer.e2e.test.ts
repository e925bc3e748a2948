import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { WebSocketServer, type WebSocket } from "ws";
import type { TransferSide } from "../../../protocol/index.ts";
import { systemClock as serverClock } from "../../../server/src/base/clock.ts";
import { Transfers } from "../../../server/src/domains/supply/hosts/tunnels/copies.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../base/clock.ts";
import { dialTransfer } from "../streams/transfer-connection.ts";
import type { Site } from "./files.ts";
import { createSandbox, FOLDER_PATH, type Sandbox } from "./sandbox.ts";
import { receiveFiles, sendBackup, sendFiles } from "./transfer.ts";

const MB = 1_000_000;

describe("files that go from one host to another", () => {
  let stateDir = "";
  let sandbox: Sandbox;
  let server: Server;
  let url = "";
  /** The refusal of each request for a connection; undefined lets it in. */
  let refusal: string | undefined;
  let refusedCount = 0;
  let connections: { readonly side: TransferSide; readonly socket: WebSocket }[];
  let from = "";
  let to = "";

  before(async () => {
    stateDir = await mkdtemp(join(tmpdir(), "berth-transfer-"));
    const toolboxDirectory = join(stateDir, "toolbox");
    await mkdir(toolboxDirectory);
    await writeFile(join(toolboxDirectory, "busybox"), await readFile("/bin/busybox"), { mode: 0o755 });
    sandbox = createSandbox({ stateDir, toolboxDirectory });
    const transfers = new Transfers(serverClock);
    const sockets = new WebSocketServer({ noServer: true });
    server = createServer();
    server.on("upgrade", (request, socket, head) => {
      if (refusal !== undefined) {
        refusedCount += 1;
        return void socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
      }
      const [, , , id = "", side] = (request.url ?? "").split("/");
      assert.ok(side === "send" || side === "receive");
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        connections.push({ side, socket: webSocket });
        transfers.arrive(id, side, webSocket);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/agent`;
  });
  beforeEach(async () => {
    refusal = undefined;
    refusedCount = 0;
    connections = [];
    from = await mkdtemp(join(stateDir, "from-"));
    to = await mkdtemp(join(stateDir, "to-"));
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await rm(stateDir, { recursive: true, force: true });
  });

  const siteAt = (directory: string, isReadOnly: boolean): Site => ({
    key: directory,
    stoppedInstanceId: undefined,
    prefix: FOLDER_PATH,
    open: (argv) => sandbox.open({ kind: "folder", directory, isReadOnly }, argv),
  });
  type Choice = {
    path?: string;
    target?: string;
    isCompressed?: boolean;
    isFresh?: boolean;
    signal?: AbortSignal;
    /** Called once, in the midst of it: when more than a megabyte has arrived. */
    onFlow?: () => void;
  };
  /** Both halves, each as its own host does it. */
  const transfer = (choice: Choice = {}) => {
    const { path = "/", target = "/", isCompressed = true, isFresh = true } = choice;
    const transferId = randomBytes(8).toString("hex");
    let onFlow = choice.onFlow;
    const common = (side: TransferSide) => ({
      clock: systemClock,
      random: () => 0,
      dial: () => dialTransfer({ serverUrl: url, token: "token", transferId, side }),
      isCompressed,
      signal: choice.signal ?? new AbortController().signal,
      onWait: () => undefined,
      onProgress: () => undefined,
    });
    const sent = sendFiles({ ...common("send"), site: siteAt(from, true), path });
    const received = receiveFiles({
      ...common("receive"),
      ...{ site: siteAt(to, false), path: target, isFresh },
      onProgress: (bytes) => {
        if (bytes <= MB) return;
        onFlow?.();
        onFlow = undefined;
      },
    });
    return Promise.all([sent, received]);
  };
  const succeeds = async (ended: ReturnType<typeof transfer>) => {
    const [sent, received] = await ended;
    assert.ok(sent.ok && received.ok, JSON.stringify([sent, received]));
  };
  const failsWith = async (ended: ReturnType<typeof transfer>, reason: RegExp) => {
    for (const result of await ended) {
      assert.ok(!result.ok);
      assert.match(result.failure.message, reason);
    }
  };

  for (const isCompressed of [true, false]) {
    it(`keep owners, modes, times, links and bytes${isCompressed ? ", compressed" : ""}`, async () => {
      const bytes = randomBytes(5 * MB);
      await writeFile(join(from, "large"), bytes);
      await writeFile(join(from, "zeros"), Buffer.alloc(5 * MB));
      await mkdir(join(from, ".hidden", "deep"), { recursive: true });
      await writeFile(join(from, ".hidden/deep/run"), "#!/bin/sh\n", { mode: 0o4750 });
      await symlink("/etc/passwd", join(from, "link"));
      await writeFile(join(to, "left over"), "of an earlier attempt");
      await writeFile(join(to, ".left"), "");
      await succeeds(transfer({ isCompressed }));
      assert.deepEqual((await readdir(to)).toSorted(), [".hidden", "large", "link", "zeros"]);
      assert.equal(hashOf(await readFile(join(to, "large"))), hashOf(bytes));
      assert.equal((await readFile(join(to, "zeros"))).length, 5 * MB);
      assert.equal((await lstat(join(to, ".hidden/deep/run"))).mode & 0o7777, 0o4750);
      assert.equal(await readlink(join(to, "link")), "/etc/passwd");
    });
  }

  it("may be one file under another name, beside what is there", async () => {
    await writeFile(join(from, "one"), "1");
    await writeFile(join(to, "kept"), "2");
    await succeeds(transfer({ path: "/one", target: "/sub/other", isFresh: false }));
    assert.deepEqual((await readdir(to)).toSorted(), ["kept", "sub"]);
    assert.equal(await readFile(join(to, "sub/other"), "utf8"), "1");
  });

  it("begin again with no file when the connection breaks on either side", async () => {
    const bytes = randomBytes(30 * MB);
    await writeFile(join(from, "large"), bytes);
    for (const side of ["send", "receive"] as const) {
      connections.length = 0;
      const onFlow = () => connections.find((connection) => connection.side === side)?.socket.terminate();
      await succeeds(transfer({ isCompressed: false, onFlow }));
      assert.ok(connections.length > 2);
      assert.equal(hashOf(await readFile(join(to, "large"))), hashOf(bytes));
    }
  });

  it("fail on both sides with the reason of the one that could not go on", async () => {
    await failsWith(transfer({ path: "/nothing" }), /there is nothing to copy at \/nothing/);
    await writeFile(join(from, "file"), randomBytes(5 * MB));
    await writeFile(join(to, "plain"), "");
    await failsWith(transfer({ target: "/plain/below", isFresh: false }), /[Nn]ot a directory|File exists/);
  });

  it("are left off at once when they are called off, or when the server knows nothing of them", async () => {
    await writeFile(join(from, "large"), randomBytes(30 * MB));
    const abort = new AbortController();
    await failsWith(transfer({ signal: abort.signal, onFlow: () => abort.abort("cancelled") }), /called off/);
    refusal = "404 Not Found";
    await failsWith(transfer(), /the other host is done with it/);
  });

  /** A backup as the server receives it: here the other half unpacks it. */
  const backUp = async (site: Site | undefined) => {
    const transferId = randomBytes(8).toString("hex");
    const common = (side: TransferSide) => ({
      ...{ clock: systemClock, random: () => 0, isCompressed: true, signal: new AbortController().signal },
      ...{ onWait: () => undefined, onProgress: () => undefined },
      dial: () => dialTransfer({ serverUrl: url, token: "token", transferId, side }),
    });
    const [sent, received] = await Promise.all([
      sendBackup({ ...common("send"), site }),
      receiveFiles({ ...common("receive"), site: siteAt(to, false), path: "/", isFresh: true }),
    ]);
    assert.ok(sent.ok && received.ok, JSON.stringify([sent, received]));
  };

  it("leave devices out of a backup, and keep all else", async () => {
    await mkdir(join(from, "deep"));
    await writeFile(join(from, "deep", "x".repeat(200)), "long");
    assert.equal(spawnSync("mknod", [join(from, "deep/gone"), "c", "0", "0"]).status, 0);
    assert.equal(spawnSync("mknod", [join(from, "y".repeat(200)), "c", "0", "0"]).status, 0);
    await writeFile(join(from, "zone"), "after it");
    await backUp(siteAt(from, true));
    assert.deepEqual((await readdir(to)).toSorted(), ["deep", "zone"]);
    assert.deepEqual(await readdir(join(to, "deep")), ["x".repeat(200)]);
    assert.equal(await readFile(join(to, "zone"), "utf8"), "after it");
  });

  it("are none in the backup of a simulated instance, which comes all the same", async () => {
    await writeFile(join(to, "left over"), "");
    await backUp(undefined);
    assert.deepEqual(await readdir(to), []);
  });

  it("wait for a server that is away", async () => {
    await writeFile(join(from, "file"), "1");
    refusal = "503 Service Unavailable";
    const going = transfer();
    await until("both to be refused", () => refusedCount >= 2);
    refusal = undefined;
    await succeeds(going);
    assert.equal(await readFile(join(to, "file"), "utf8"), "1");
  });
});

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
