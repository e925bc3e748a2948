import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import ssh2 from "ssh2";
import { docker } from "../../../test/support/hosts/docker.ts";
import { until } from "../../../test/support/until.ts";
import { SshPlace, type Door22 } from "../../test/ssh-place.ts";

const BOX = "/.berth/busybox";
const MEBIBYTE = 1024 * 1024;
/** More than the buffers of a connection and a channel, and far less than what is offered. */
const ALLOWED_GROWTH = 64 * MEBIBYTE;
const FLOOD = `exec ${BOX} dd if=/dev/zero bs=1M count=2000 status=none`;

describe("clients and images that do not behave", () => {
  let place: SshPlace;
  let door: Door22;

  before(async () => {
    place = await SshPlace.make();
    door = await place.container(6);
    await place.open(door);
    // Memory that the process takes once, for any client.
    await place.ssh(door, ["cat > /dev/null"], randomBytes(30 * MEBIBYTE));
  });
  after(() => place[Symbol.asyncDispose]());

  it("a window opened wide and never read from costs no memory", async () => {
    const { client, channel } = await startFlood();
    internals(client).channelWindowAdjust(outgoingId(channel), 2_000_000_000);
    internals(client).pause();
    await staysSmall();
    client.destroy();
    await floodEnds();
  });

  it("a key exchange that is begun and never finished costs no memory", async () => {
    const { client, channel } = await startFlood();
    internals(client).channelWindowAdjust(outgoingId(channel), 2_000_000_000);
    internals(client).rekeyAndIgnore();
    await staysSmall();
    client.destroy();
    await floodEnds();
  });

  it("a client that sends more than its window is cut off", async () => {
    const client = await login();
    const channel = await exec(client, "sleep 4901");
    const closed = new Promise<void>((resolve) => client.once("close", () => resolve()));
    channel.on("error", () => undefined);
    assert.ok(typeof channel.outgoing === "object" && channel.outgoing !== null);
    Object.assign(channel.outgoing, { window: 1e9 });
    const data = randomBytes(MEBIBYTE - 1);
    let isClosed = false;
    client.once("close", () => (isClosed = true));
    for (let sent = 0; sent < 200 && !isClosed; sent += 1) {
      channel.write(data);
      await new Promise(setImmediate);
    }
    await closed;
    await staysSmall();
  });

  it("noise instead of a handshake harms nobody else", async () => {
    const session = place.startSsh(door, [], ["echo in; cat"]);
    await once(session.stdout, "data");
    const noise = [randomBytes(4096), Buffer.from(`SSH-2.0-noise\r\n${"x".repeat(5000)}`), Buffer.alloc(100_000, 0x41)];
    for (const bytes of noise) {
      const socket = connect(door.port, "127.0.0.1").on("error", () => undefined);
      socket.resume().end(bytes);
      await once(socket, "close");
    }
    session.stdin.end("unharmed");
    assert.equal(String((await once(session.stdout, "data"))[0]), "unharmed");
  });

  it("an image whose programs are all gone can be entered, and files can be fetched from it", async () => {
    const bare = await place.container(8);
    await docker("exec", bare.containerId, BOX, "rm", "-r", "/bin", "/root");
    await place.open(door, bare);
    const { code, stdout } = await place.ssh(bare, ["pwd; echo $SHELL; exit 4"]);
    assert.deepEqual([code, stdout.toString()], [4, `/\n${BOX}\n`]);
    const login = await place.ssh(bare, [], "echo $0; exit 5\n");
    assert.equal(login.code, 5);
    const get = `get /.dockerenv ${place.folder}/got\n`;
    const args = ["-b", "-", ...place.options(bare), "-P", String(bare.port), "root@127.0.0.1"];
    assert.equal((await place.runToEnd("sftp", args, get)).code, 0);
    await place.open(door);
  });

  it("a login with a terminal enters tmux where the image has it and the renter wants it", async () => {
    const write = (text: string, path: string) => `printf '%s\\n' '${text}' > ${path} && chmod 755 ${path}`;
    await place.ssh(door, [write("#!/bin/sh\necho tmux-was-called-with $*; exit $CODE", "/bin/tmux")]);
    const login = async (...options: string[]) => {
      const { code, stdout } = await place.sshWith(door, options, [], "echo sh-$((1 + 1)); exit 3\n");
      const text = stdout.toString();
      return [code, text.includes("tmux-was-called-with -u new-session -A -s ssh_tmux"), text.includes("sh-2")];
    };
    assert.deepEqual(await login("-tt", "-o", "SendEnv=LANG"), [0, true, false]);
    assert.deepEqual(await login(), [3, false, true]);
    const command = await place.sshWith(door, ["-tt"], ["echo direct"]);
    assert.equal(command.stdout.toString(), "direct\r\n");
    await place.ssh(door, ["touch ~/.no_auto_tmux"]);
    assert.deepEqual(await login("-tt", "-o", "SendEnv=LANG"), [3, false, true]);
    // One that does not work is no reason to be locked out.
    await place.ssh(door, [`rm ~/.no_auto_tmux; ${write("#!/bin/sh\nexit 1", "/bin/tmux")}`]);
    assert.deepEqual(await login("-tt", "-o", "SendEnv=LANG"), [3, false, true]);
  });

  it("a container that has ended says so", async () => {
    const ended = await place.container(9);
    await place.open(door, ended);
    await docker("kill", ended.containerId);
    const { code, stderr } = await place.ssh(ended, ["true"]);
    assert.equal(code, 255);
    assert.match(stderr, /berth: .*is not running/);
    await place.open(door);
  });

  async function login(): Promise<ssh2.Client> {
    const client = new ssh2.Client();
    client.on("error", () => undefined);
    const privateKey = await readFile(place.key);
    client.connect({ host: "127.0.0.1", port: door.port, username: "root", privateKey });
    await once(client, "ready");
    return client;
  }

  function exec(client: ssh2.Client, command: string): Promise<ssh2.ClientChannel> {
    return new Promise((resolve, reject) => {
      client.exec(command, (cause, channel) => (cause ? reject(cause) : resolve(channel)));
    });
  }

  async function startFlood() {
    const client = await login();
    const channel = await exec(client, FLOOD);
    channel.pause();
    return { client, channel };
  }

  const resident = async () => {
    const status = await readFile(`/proc/${await place.pid()}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
  };

  /** Looks until what the process holds has stopped growing. */
  async function staysSmall(): Promise<void> {
    const first = await resident();
    let last = first;
    let calm = 0;
    await until("its memory stands still", async () => {
      const now = await resident();
      calm = now <= last ? calm + 1 : 0;
      last = now;
      assert.ok(now - first < ALLOWED_GROWTH, `the process grew by ${now - first} bytes`);
      return calm >= 4;
    });
  }

  async function floodEnds(): Promise<void> {
    await until("the program ends", async () => !(await place.processes(door)).join().includes("dd if=/dev/zero"));
  }
});

function outgoingId(channel: ssh2.ClientChannel): number {
  const outgoing: unknown = channel.outgoing;
  assert.ok(typeof outgoing === "object" && outgoing !== null);
  return Number(Reflect.get(outgoing, "id"));
}

/** The library's inner parts, for messages that its own client would never send. */
function internals(client: ssh2.Client) {
  const protocol: object = Reflect.get(client, "_protocol");
  const socket: object = Reflect.get(client, "_sock");
  return {
    channelWindowAdjust: (id: number, amount: number) =>
      void Reflect.apply(Reflect.get(protocol, "channelWindowAdjust"), protocol, [id, amount]),
    pause: () => void Reflect.apply(Reflect.get(socket, "pause"), socket, []),
    rekeyAndIgnore: () => {
      Reflect.apply(Reflect.get(protocol, "rekey"), protocol, []);
      Reflect.apply(Reflect.get(socket, "removeAllListeners"), socket, ["data"]);
      Reflect.apply(Reflect.get(socket, "resume"), socket, []);
    },
  };
}
