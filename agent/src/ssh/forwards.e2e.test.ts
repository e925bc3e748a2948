import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { docker } from "../../../test/support/hosts/docker.ts";
import { freePort } from "../../../test/support/network/free-port.ts";
import { until } from "../../../test/support/until.ts";
import { SshPlace, type Door22 } from "../../test/ssh-place.ts";

const BOX = "/.berth/busybox";
const SERVE = `mkdir -p /www && echo from-inside > /www/index.html && httpd -p 127.0.0.1:8000 -h /www && httpd -f -p 8001 -h /www`;

describe("files and forwards with OpenSSH's clients", () => {
  let place: SshPlace;
  let door: Door22;
  const clients = new Set<ReturnType<SshPlace["startSsh"]>>();

  before(async () => {
    place = await SshPlace.make();
    door = await place.container(3, { args: ["--entrypoint", "/bin/sh"], words: ["-c", SERVE] });
    await place.open(door);
    await until("the service inside", async () => (await inside("wget -q -O - http://127.0.0.1:8000/")) !== "");
  });
  afterEach(() => endForwards());
  after(() => place[Symbol.asyncDispose]());

  it("sftp puts, lists and gets files in an image that has none of it, not even users", async () => {
    assert.equal(await inside("test -e /etc/passwd || echo none"), "none\n");
    const data = randomBytes(3_000_000);
    await writeFile(join(place.folder, "up.bin"), data);
    const batch = `put ${place.folder}/up.bin /root/up.bin\nls -l /root\nget /root/up.bin ${place.folder}/down.bin\n`;
    const { code, stdout, stderr } = await sftp(batch);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout.toString(), /3000000 .*up\.bin/);
    assert.deepEqual(await readFile(join(place.folder, "down.bin")), data);
    const failed = await sftp("get /root/not-there /dev/null\n");
    assert.equal(failed.code, 1);
  });

  it("scp copies both ways, folders too", async () => {
    const from = join(place.folder, "from");
    await mkdir(join(from, "sub"), { recursive: true });
    await writeFile(join(from, "sub/file"), "by scp");
    const remote = (path: string) => `root@127.0.0.1:${path}`;
    const scp = (...words: string[]) =>
      place.runToEnd("scp", ["-r", "-p", ...place.options(door), "-P", String(door.port), ...words]);
    assert.deepEqual(await scp(from, remote("/root/to")).then(({ code, stderr }) => [code, stderr]), [0, ""]);
    assert.equal(await inside("cat /root/to/sub/file"), "by scp");
    assert.equal((await scp(remote("/root/to"), join(place.folder, "back"))).code, 0);
    assert.equal(await readFile(join(place.folder, "back/sub/file"), "utf8"), "by scp");
  });

  it("rsync keeps times, modes and links both ways without one in the image", async () => {
    const from = join(place.folder, "tree");
    await mkdir(from);
    await writeFile(join(from, "big"), randomBytes(2_000_000), { mode: 0o640 });
    await symlink("big", join(from, "link"));
    const rsync = (source: string, target: string) =>
      place.runToEnd("rsync", ["-a", "-e", `ssh ${place.options(door).join(" ")} -p ${door.port}`, source, target]);
    const up = await rsync(`${from}/`, "root@127.0.0.1:/root/tree/");
    assert.deepEqual([up.code, up.stderr], [0, ""]);
    const down = await rsync("root@127.0.0.1:/root/tree/", join(place.folder, "tree-back"));
    assert.deepEqual([down.code, down.stderr], [0, ""]);
    const [first, second] = await Promise.all(
      ["tree", "tree-back"].map((name) => stat(join(place.folder, name, "big"))),
    );
    assert.deepEqual([second?.mode, second?.size], [first?.mode, first?.size]);
    assert.equal(Math.trunc(second?.mtimeMs ?? 0), Math.trunc(first?.mtimeMs ?? 1));
    assert.deepEqual(await readFile(join(place.folder, "tree-back/link")), await readFile(join(from, "big")));
  });

  it("an image's own loader settings do not break the programs", async () => {
    const odd = await place.container(4, { args: ["-e", "LD_PRELOAD=/no/such.so", "-e", "LD_LIBRARY_PATH=/proc"] });
    await place.open(door, odd);
    const batch = await place.runToEnd(
      "sftp",
      ["-b", "-", ...place.options(odd), "-P", String(odd.port), "root@127.0.0.1"],
      "pwd\n",
    );
    assert.deepEqual([batch.code, batch.stderr], [0, ""]);
    await place.open(door);
  });

  it("-L reaches a service that only the container itself can reach, by address and by name", async () => {
    const local = await freePort();
    const named = await freePort();
    const hostname = (await docker("inspect", "-f", "{{.Config.Hostname}}", door.containerId)).trim();
    const forwards = ["-L", `${local}:localhost:8000`, "-L", `${named}:${hostname}:8001`];
    const client = forwarding("-N", ...forwards);
    await until("it listens", () => answers(local));
    assert.equal(await fetchText(local), "from-inside\n");
    // Again and at once: each of them is a connection of its own.
    const all = await Promise.all(Array.from({ length: 30 }, () => fetchText(local)));
    assert.deepEqual(new Set(all), new Set(["from-inside\n"]));
    assert.equal(await fetchText(named), "from-inside\n");
    assert.equal(client.exitCode, null);
  });

  it("a forward never reaches what listens on the host's own loopback", async () => {
    const secret = createServer((_request, response) => response.end("of the host")).listen(0, "127.0.0.1");
    await once(secret, "listening");
    const address = secret.address();
    assert.ok(typeof address === "object" && address !== null);
    const { port } = address;
    for (const host of [
      "localhost",
      "127.0.0.1",
      "::1",
      "127.1",
      "0",
      "0.0.0.0",
      "::ffff:127.0.0.1",
      "[::]",
      "2130706433",
    ]) {
      const local = await freePort();
      const target = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
      const client = forwarding("-N", "-L", `${local}:${target}:${port}`);
      await until(`it listens for ${host}`, () => answers(local));
      await assert.rejects(fetchText(local), `${host} led to the host`);
      assert.equal(client.exitCode, null);
    }
    secret.close();
  });

  it("-D serves a browser's kind of proxy, with names looked up inside", async () => {
    const local = await freePort();
    const client = forwarding("-N", "-D", String(local));
    await until("it listens", () => answers(local));
    for (const proxy of ["--socks5", "--socks5-hostname"]) {
      const got = await place.runToEnd("curl", ["-s", proxy, `127.0.0.1:${local}`, "http://localhost:8000/"]);
      assert.deepEqual([got.code, got.stdout.toString()], [0, "from-inside\n"]);
    }
    assert.equal(client.exitCode, null);
  });

  it("-R lets the container reach a server of the client, on a port it asked for or was given", async () => {
    const server = createServer((_request, response) => response.end("of the client")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    const get = (port: number) => inside(`wget -q -O - http://127.0.0.1:${port}/ 2> /dev/null`);
    const client = forwarding("-N", "-R", `9100:127.0.0.1:${address.port}`, "-R", `0:127.0.0.1:${address.port}`);
    let said = "";
    client.stderr.on("data", (data: Buffer) => (said += data.toString()));
    await until("the chosen port", () => said.includes("Allocated port"));
    const chosen = Number(/Allocated port (\d+)/.exec(said)?.[1]);
    assert.equal(await get(9100), "of the client");
    assert.equal(await get(chosen), "of the client");
    // A port that is taken inside is refused, and the session goes on.
    const taken = await place.sshWith(door, ["-R", `8000:127.0.0.1:${address.port}`], ["echo on"]);
    assert.equal(taken.stdout.toString(), "on\n");
    await endForwards();
    await until("the listener goes with its connection", async () => (await get(9100)) === "");
    server.close();
  });

  it("megabytes go through a forward unchanged, and each direction ends by itself", async () => {
    const data = randomBytes(5_000_000);
    const service = await docker("exec", "-d", door.containerId, BOX, "nc", "-l", "-p", "8100", "-e", "/bin/cat");
    assert.equal(service, "");
    // It takes one connection only, so that nobody may try whether it is there.
    await until("the service inside", async () => isListening(await inside("cat /proc/net/tcp /proc/net/tcp6"), 8100));
    const local = await freePort();
    const client = forwarding("-N", "-L", `${local}:127.0.0.1:8100`);
    await until("it listens", async () => isListening(await readFile("/proc/net/tcp", "utf8"), local));
    const socket = connect({ port: local, host: "127.0.0.1", allowHalfOpen: true });
    const received: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => received.push(chunk));
    socket.end(data);
    await once(socket, "close");
    assert.ok(Buffer.concat(received).equals(data));
    assert.equal(client.exitCode, null);
  });

  it("agents, X11 and sockets in the file system are refused, the session goes on", async () => {
    const set = ["-A", "-X", "-o", "ForwardX11Trusted=no", "-R", "/tmp/socket:127.0.0.1:1"];
    const { code, stdout } = await place.sshWith(door, set, ["echo ${SSH_AUTH_SOCK-none} ${DISPLAY-none}"]);
    assert.deepEqual([code, stdout.toString()], [0, "none none\n"]);
  });

  /** A client that forwards until the end of the test. */
  function forwarding(...options: readonly string[]) {
    const client = place.startSsh(door, ["-o", "LogLevel=INFO", "-o", "ExitOnForwardFailure=no", ...options], []);
    clients.add(client);
    return client;
  }

  async function endForwards(): Promise<void> {
    for (const client of clients) {
      clients.delete(client);
      client.kill();
      if (client.exitCode === null && client.signalCode === null) await once(client, "close");
    }
  }

  async function inside(command: string): Promise<string> {
    return (await place.ssh(door, [command])).stdout.toString();
  }

  function sftp(batch: string) {
    return place.runToEnd(
      "sftp",
      ["-b", "-", ...place.options(door), "-P", String(door.port), "root@127.0.0.1"],
      batch,
    );
  }
});

async function fetchText(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: "close" } })).text();
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isThere = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isThere;
}

/** True when the kernel's table has a socket that listens at the port. */
function isListening(table: string, port: number): boolean {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return table.split("\n").some((line) => {
    const [, local = "", , state] = line.trim().split(/\s+/);
    return state === "0A" && local.endsWith(ending);
  });
}
