import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import ssh2 from "ssh2";
import { docker } from "../../../test/support/hosts/docker.ts";
import { until } from "../../../test/support/until.ts";
import { SshPlace, type Door22 } from "../../test/ssh-place.ts";

const BOX = "/.berth/busybox";

describe("sessions with OpenSSH's client", () => {
  let place: SshPlace;
  let door: Door22;
  const running = async (words: string) => (await place.processes(door)).filter((line) => line.includes(words));
  const digest = (data: Buffer) => createHash("md5").update(data).digest("hex");
  /** Collects what a started client prints. */
  const printed = (child: ReturnType<SshPlace["startSsh"]>) => {
    let text = "";
    child.stdout.on("data", (data: Buffer) => (text += data.toString()));
    child.stderr.on("data", (data: Buffer) => (text += data.toString()));
    return (what: string) => text.includes(what);
  };

  before(async () => {
    place = await SshPlace.make();
    door = await place.container(7);
    await place.open(door);
  });
  after(() => place[Symbol.asyncDispose]());

  it("a command's exit code, output and error output come back apart and whole", async () => {
    assert.equal((await place.ssh(door, ["true"])).code, 0);
    assert.equal((await place.ssh(door, ["exit 7"])).code, 7);
    assert.equal((await place.ssh(door, ["no-such-program"])).code, 127);
    const both = await place.ssh(door, ["echo out; echo err >&2; exit 3"]);
    assert.deepEqual([both.code, both.stdout.toString(), both.stderr], [3, "out\n", "err\n"]);
  });

  it("megabytes go both ways through one command unchanged", async () => {
    const data = randomBytes(6 * 1024 * 1024);
    const echoed = await place.ssh(door, ["cat"], data);
    assert.deepEqual([echoed.code, digest(echoed.stdout)], [0, digest(data)]);
    const summed = await place.ssh(door, [`${BOX} md5sum`], data);
    assert.equal(summed.stdout.toString().split(" ")[0], digest(data));
  });

  it("output and error output that both wait for a slow reader arrive complete and once", async () => {
    const line = "x".repeat(99);
    const write = `i=0; while [ $i -lt 40 ]; do ${BOX} yes ${line} | head -c 400000; ${BOX} yes ${line} | head -c 400000 >&2; i=$((i+1)); done`;
    const client = place.startSsh(door, [], [write]);
    client.stdin.end();
    const totals = { stdout: 0, stderr: 0 };
    for (const name of ["stdout", "stderr"] as const) {
      client[name].on("data", (data: Buffer) => {
        totals[name] += data.length;
        // Stands still again and again, for as long as other work takes.
        client[name].pause();
        setImmediate(() => client[name].resume());
      });
    }
    const [code] = await once(client, "close");
    assert.deepEqual([code, totals], [0, { stdout: 16_000_000, stderr: 16_000_000 }]);
  });

  it("a session begins at home with the variables of a login and nothing else of the client", async () => {
    const script = "pwd; echo $HOME $USER $SHELL; echo $LANG-$SECRET; echo ${SSH_CONNECTION##* }";
    const send = ["-o", "SendEnv=LANG", "-o", "SetEnv=SECRET=1"];
    const { stdout } = await place.sshWith(door, send, [script]);
    const ownPort = String(door.port);
    assert.deepEqual(stdout.toString().split("\n"), ["/root", "/root root /bin/sh", "C.UTF-8-", ownPort, ""]);
  });

  it("variables of /etc/environment are there, a login shell of the user table is taken", async () => {
    await docker(
      "exec",
      door.containerId,
      "sh",
      "-c",
      `printf 'A=plain\\nexport B="two words"\\n#C=1\\nnonsense\\n' > /etc/environment`,
    );
    const { stdout } = await place.ssh(door, ['echo "$A|$B|$C"']);
    assert.equal(stdout.toString(), "plain|two words|\n");
    await docker("exec", door.containerId, "sh", "-c", "echo 'root:x:0:0::/tmp:/bin/ash' > /etc/passwd");
    assert.equal((await place.ssh(door, ["echo $HOME $SHELL; pwd"])).stdout.toString(), "/tmp /bin/ash\n/tmp\n");
    await docker("exec", door.containerId, "rm", "/etc/passwd", "/etc/environment");
  });

  it("a session has no more rights than the container", async () => {
    const status = (await place.ssh(door, ["cat /proc/self/status"])).stdout.toString();
    assert.match(status, /^NoNewPrivs:\s+1$/m);
    assert.match(status, /^CapEff:\s+0+$/m);
    assert.match(status, /^CapBnd:\s+0+$/m);
  });

  it("a terminal has the client's size from its first line on and follows it", async () => {
    const command = `ssh ${place.options(door).join(" ")} -p ${door.port} -t root@127.0.0.1 "${BOX} stty size; exec sh"`;
    const client = place.start("script", ["-qec", `stty rows 33 cols 77; exec ${command}`, "/dev/null"]);
    const sees = printed(client);
    await until("the first size", () => sees("33 77"));
    const [ssh = ""] = (await readFile(`/proc/${client.pid}/task/${client.pid}/children`, "utf8")).trim().split(" ");
    const terminal = await readlink(`/proc/${ssh}/fd/0`);
    await place.runToEnd("stty", ["-F", terminal, "rows", "44", "cols", "99"]);
    await until("the new size is seen inside", () => {
      client.stdin.write(`${BOX} stty size\n`);
      return sees("44 99");
    });
    client.stdin.write("exit 5\n");
    assert.deepEqual((await once(client, "close"))[0], 5);
  });

  it("Ctrl-C interrupts the program in the terminal and not the shell", async () => {
    const client = place.startSsh(door, ["-tt"], []);
    const sees = printed(client);
    client.stdin.write("sleep 4711\n");
    await until("it sleeps", async () => (await running("sleep 4711")).length > 0);
    client.stdin.write("\x03");
    // The terminal drops what was typed before the interrupt is through.
    await until("the shell answers", () => {
      client.stdin.write("echo still-$((40 + 2))\n");
      return sees("still-42");
    });
    client.stdin.write("exit 4\n");
    assert.equal((await once(client, "close"))[0], 4);
    assert.deepEqual(await running("sleep 4711"), []);
  });

  it("a login shell without a terminal reads its commands from the input", async () => {
    const { code, stdout } = await place.ssh(door, [], "echo $((6 * 7)); exit 9\n");
    assert.deepEqual([code, stdout.toString()], [9, "42\n"]);
  });

  it("a client that is killed leaves no process behind, with or without a terminal", async () => {
    for (const options of [[], ["-tt"]]) {
      const client = place.startSsh(door, options, ["sleep 4712 & sleep 4712; true"]);
      await until("both sleep", async () => (await running("sleep 4712")).length >= 2);
      client.kill("SIGKILL");
      await until("nobody sleeps", async () => (await running("sleep 4712")).length === 0);
    }
    // Without a command an idle shell is what would stay.
    const shells = (await running("-sh")).length;
    const client = place.startSsh(door, ["-tt"], []);
    await until("a shell", async () => (await running("-sh")).length > shells);
    client.kill("SIGKILL");
    await until("no shell", async () => (await running("-sh")).length === shells);
  });

  it("a program that a renter put into the background and out of reach of a hang-up lives on after the session", async () => {
    await place.ssh(door, ["(trap '' HUP; exec sleep 4713) > /dev/null 2>&1 &"]);
    assert.equal((await running("sleep 4713")).length, 1);
    await place.ssh(door, [`${BOX} pkill -f "sleep 4713"`]);
  });

  it("a signal of the client reaches the program", async () => {
    const client = new ssh2.Client();
    const privateKey = await readFile(place.key);
    client.connect({ host: "127.0.0.1", port: door.port, username: "root", privateKey });
    await once(client, "ready");
    const stream = await new Promise<ssh2.ClientChannel>((resolve, reject) => {
      client.exec("trap 'echo got-it; exit 6' USR1; echo ready; while :; do sleep 0.05; done", (cause, channel) =>
        cause ? reject(cause) : resolve(channel),
      );
    });
    let text = "";
    stream.on("data", (data: Buffer) => (text += data.toString()));
    const closed = once(stream, "close");
    await until("the trap is set", () => text.includes("ready"));
    stream.signal("USR1");
    const [code] = await closed;
    assert.deepEqual([code, text], [6, "ready\ngot-it\n"]);
    client.end();
  });

  it("many connections at once each get their own answer", async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, index) => place.ssh(door, [`cat; exit ${index}`], `number ${index}`)),
    );
    for (const [index, { code, stdout, stderr }] of all.entries()) {
      assert.deepEqual([code, stdout.toString(), stderr], [index, `number ${index}`, ""]);
    }
  });

  it("several sessions share one connection", async () => {
    const socket = join(place.folder, "control");
    const master = place.startSsh(door, ["-M", "-N", "-S", socket], []);
    await until("the master", async () => (await readdir(place.folder)).includes("control"));
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, index) => place.sshWith(door, ["-S", socket], [`cat; exit ${index}`], `${index}`)),
    );
    assert.deepEqual(
      all.map(({ code, stdout }) => `${code} ${stdout.toString()}`),
      all.map((_, index) => `${index} ${index}`),
    );
    master.kill();
    await once(master, "close");
  });

  it("keys are exchanged again during a transfer without harm, in both directions", async () => {
    const data = randomBytes(24 * 1024 * 1024);
    const { code, stdout } = await place.runToEnd(
      "ssh",
      ["-o", "RekeyLimit=1M", ...place.options(door), "-p", String(door.port), "root@127.0.0.1", "cat"],
      data,
    );
    assert.deepEqual([code, digest(stdout)], [0, digest(data)]);
  });

  it("a reader that stands still makes the program wait, and costs no memory", async () => {
    const rss = async () => {
      const status = await readFile(`/proc/${await place.pid()}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
    };
    const beforeBytes = await rss();
    const client = place.startSsh(
      door,
      [],
      [`${BOX} dd if=/dev/zero bs=1M count=400 status=none; echo done > /tmp/done`],
    );
    client.stdout.once("data", () => client.stdout.pause());
    await once(client.stdout, "data");
    const [writer] = await until("the program writes", async () => {
      const found = await running("dd if=/dev/zero");
      return found.length > 0 && found;
    });
    const written = async () =>
      /wchar: (\d+)/.exec(await readFile(`/proc/${writer?.trim().split(" ")[0]}/io`, "utf8"))?.[1];
    let last: string | undefined;
    await until("the program waits", async () => {
      const now = await written();
      const isSame = now === last;
      last = now;
      return isSame;
    });
    assert.ok(Number(last) < 64 * 1024 * 1024, `${last} bytes were taken from the program`);
    assert.ok((await rss()) - beforeBytes < 96 * 1024 * 1024, "the process grew by what nobody reads");
    client.kill("SIGKILL");
    await until("the program ends", async () => (await running("dd if=/dev/zero")).length === 0);
  });
});
