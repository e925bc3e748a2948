import assert from "node:assert/strict";
import { once } from "node:events";
import { stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import ssh2 from "ssh2";
import { WebSocketServer, createWebSocketStream } from "ws";
import { freePort } from "../../../test/support/network/free-port.ts";
import { until } from "../../../test/support/until.ts";
import { SshPlace, type Door22 } from "../../test/ssh-place.ts";

const PARENT = join(import.meta.dirname, "../../test/ssh-parent.ts");

describe("the doors of a host", () => {
  let place: SshPlace;
  let door: Door22;
  let other: Door22;

  before(async () => {
    place = await SshPlace.make();
    door = await place.container(1);
    other = await place.container(2);
    await place.open(door, other);
  });
  after(() => place[Symbol.asyncDispose]());

  it("lets in the user root with one of the keys, of each kind, and nobody else", async () => {
    const kinds = [
      ["-t", "ed25519"],
      ["-t", "ecdsa", "-b", "521"],
      ["-t", "rsa", "-b", "2048"],
    ] as const;
    const keys = await Promise.all(kinds.map((options, index) => place.makeKey(`kind-${index}`, ...options)));
    await place.makeKey("stranger");
    await place.open({ ...door, authorizedKeys: [await place.publicKey(), `# a comment\n${keys.join("")}`] }, other);
    for (const [index] of kinds.entries()) {
      const { code, stderr } = await loginWith(`kind-${index}`);
      assert.deepEqual([code, stderr], [0, ""]);
    }
    const stranger = await loginWith("stranger");
    assert.equal(stranger.code, 255);
    assert.match(stranger.stderr, /Permission denied \(publickey\)/);
    // The same key at a door that does not have it, and as somebody else.
    const args = ["-i", join(place.folder, "kind-0"), "-o", "IdentityFile=none", ...place.options(other)];
    const elsewhere = await place.runToEnd("ssh", [...args, "-p", String(other.port), "root@127.0.0.1", "true"]);
    assert.notEqual(elsewhere.code, undefined);
    const user = await place.runToEnd("ssh", [...place.options(door), "-p", String(door.port), "admin@127.0.0.1"]);
    assert.match(user.stderr, /Permission denied \(publickey\)/);
  });

  it("refuses passwords, keys with restrictions that it does not know, and signatures by SHA-1", async () => {
    const client = new ssh2.Client();
    client.connect({ host: "127.0.0.1", port: door.port, username: "root", password: "root" });
    const refusal = once(client, "error");
    // The end of the line may be one more.
    client.on("error", () => undefined);
    const [refused] = await refusal;
    assert.match(String(refused), /authentication methods failed/);
    const restricted = await place.makeKey("restricted");
    await place.makeKey("old", "-t", "rsa", "-b", "2048");
    const authorizedKeys = [await place.publicKey(), `command="id" ${restricted}`, await place.publicKey("old")];
    await place.open({ ...door, authorizedKeys }, other);
    assert.match((await loginWith("restricted")).stderr, /Permission denied/);
    const weak = await loginWith("old", "-o", "PubkeyAcceptedAlgorithms=ssh-rsa");
    assert.equal(weak.code, 255);
    assert.equal((await loginWith("old")).code, 0);
  });

  it("gives up on a client that keeps trying, and on one that never logs in with its turn", async () => {
    const names = ["s1", "s2", "s3", "s4", "s5", "s6", "s7"];
    for (const name of names) await place.makeKey(name);
    const identities = names.flatMap((name) => ["-i", join(place.folder, name)]);
    const tried = await place.sshWith(door, identities, ["true"]);
    assert.equal(tried.code, 255);
    // Logins under way of one source are limited; further connections are closed at once.
    const idle = Array.from({ length: 40 }, () => connect(door.port, "127.0.0.1").on("error", () => undefined));
    await until("the others are refused", () => idle.filter((socket) => !socket.closed).length <= 32);
    for (const socket of idle) socket.destroy();
    await until("there is room again", async () => (await place.ssh(door, ["true"])).code === 0);
  });

  it("a key that is removed ends its open sessions and no others", async () => {
    const removed = await place.makeKey("removed");
    const kept = await place.publicKey();
    await place.open({ ...door, authorizedKeys: [kept, removed] }, other);
    const args = ["-i", join(place.folder, "removed"), ...without(place.options(door), place.key)];
    const losing = place.start("ssh", [...args, "-p", String(door.port), "root@127.0.0.1", "echo in; sleep 4801"]);
    const staying = place.startSsh(door, [], ["echo in; cat"]);
    let said = "";
    losing.stderr.on("data", (data: Buffer) => (said += data.toString()));
    await Promise.all([once(losing.stdout, "data"), once(staying.stdout, "data")]);
    place.service.setDoors([{ ...door, authorizedKeys: [kept] }, other]);
    const [code] = await once(losing, "close");
    assert.equal(code, 255);
    assert.match(said, /the key of this login was removed/);
    await until("its program has ended", async () => !(await place.processes(door)).join().includes("sleep 4801"));
    staying.stdin.end("still here");
    const [text] = await once(staying.stdout, "data");
    assert.equal(String(text), "still here");
    assert.match((await loginWith("removed")).stderr, /Permission denied/);
  });

  it("host keys differ between instances and outlive the process and the service", async () => {
    const before = await Promise.all([door, other].map(({ port }) => place.hostKeyAt(port)));
    assert.deepEqual(before, [place.service.hostKey(1), place.service.hostKey(2)]);
    assert.notEqual(before[0], before[1]);
    assert.equal((await stat(join(place.folder, "state/ssh-host-secret"))).mode & 0o777, 0o600);
    const again = place.createService();
    assert.deepEqual([again.hostKey(1), again.hostKey(2)], before);
    again.close();
  });

  it("a killed process comes back with its doors and keys, and leaves no program of its sessions", async () => {
    const key = await place.hostKeyAt(door.port);
    const client = place.startSsh(door, ["-tt"], ["echo in; sleep 4802"]);
    await once(client.stdout, "data");
    const pid = await place.pid();
    process.kill(pid, "SIGKILL");
    assert.equal((await once(client, "close"))[0], 255);
    await until("another process", () =>
      place.pid().then(
        (found) => found !== pid,
        () => false,
      ),
    );
    await place.open(door, other);
    assert.equal(await place.hostKeyAt(door.port), key);
    assert.equal((await place.ssh(door, ["echo back"])).stdout.toString(), "back\n");
    await until("the stray ends", async () => !(await place.processes(door)).join().includes("sleep 4802"));
  });

  it("a door that is closed tells those inside, and its port is free again", async () => {
    const client = place.startSsh(other, [], ["echo in; sleep 4803"]);
    let said = "";
    client.stderr.on("data", (data: Buffer) => (said += data.toString()));
    await once(client.stdout, "data");
    place.service.setDoors([door]);
    assert.equal((await once(client, "close"))[0], 255);
    assert.match(said, /berth: the instance was stopped/);
    await until("the port is free", () => isFree(other.port));
    await until("its program has ended", async () => !(await place.processes(other)).join().includes("sleep 4803"));
    await place.open(door, other);
  });

  it("a port that somebody else has is taken as soon as it is free", async () => {
    const port = await freePort();
    const thief = createTcpServer().listen(port, "127.0.0.1");
    await once(thief, "listening");
    place.service.setDoors([{ ...door, port }, other]);
    await until("the problem is logged", () =>
      place.logged.some(({ message }) => message.includes("the SSH port cannot be opened")),
    );
    thief.close();
    await place.untilOpen({ ...door, port });
    await place.open(door, other);
  });

  it("a tunnel through a WebSocket ends at the same door", async () => {
    const http = createServer().listen(0, "127.0.0.1");
    await once(http, "listening");
    const address = http.address();
    assert.ok(typeof address === "object" && address !== null);
    const sockets = new WebSocketServer({ server: http });
    const tunnelled = once(sockets, "connection");
    place.service.setDoors([{ ...door, port: null }, other]);
    await until("the port is closed", () => isFree(door.port));
    place.service.connectTunnel(1, `ws://127.0.0.1:${address.port}/tunnels/9`, "the-token");
    const [socket, request] = await tunnelled;
    assert.equal(request.headers.authorization, "Bearer the-token");
    const stream = createWebSocketStream(socket);
    const relay = createTcpServer((client) => client.pipe(stream).pipe(client)).listen(0, "127.0.0.1");
    await once(relay, "listening");
    const relayed = relay.address();
    assert.ok(typeof relayed === "object" && relayed !== null);
    const through = { ...door, port: relayed.port };
    await writeFile(
      join(place.folder, "known", String(through.port)),
      `[127.0.0.1]:${through.port} ${place.service.hostKey(1)}\n`,
    );
    const { code, stdout } = await place.ssh(through, ["cat; exit 8"], Buffer.alloc(2_000_000, 1));
    assert.deepEqual([code, stdout.length], [8, 2_000_000]);
    for (const server of [relay, http]) server.close();
    socket.terminate();
    await place.open(door, other);
  });

  it("the process ends with the agent, a kill -9 included", async () => {
    const alone = { ...door, port: await freePort() };
    const stateDir = join(place.folder, "parent");
    const parent = place.start(process.execPath, [PARENT, stateDir, JSON.stringify([alone])]);
    await until("it listens", async () => !(await isFree(alone.port)));
    parent.kill("SIGKILL");
    await until("it listens no more", () => isFree(alone.port));
  });

  function loginWith(name: string, ...options: readonly string[]) {
    const args = ["-i", join(place.folder, name), ...options, ...without(place.options(door), place.key)];
    return place.runToEnd("ssh", [...args, "-p", String(door.port), "root@127.0.0.1", "true"]);
  }
});

/** Without the key that every call is given. */
function without(options: readonly string[], key: string): readonly string[] {
  const at = options.findIndex((word) => word === `IdentityFile=${key}`);
  return options.filter((_, index) => index !== at && index !== at - 1);
}

async function isFree(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const answered = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return !answered;
}
