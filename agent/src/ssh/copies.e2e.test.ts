import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readFile, readlink, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { COPY_USER } from "../../../protocol/index.ts";
import { docker } from "../../../test/support/hosts/docker.ts";
import { until } from "../../../test/support/until.ts";
import { SshPlace, type Door22, type Ran } from "../../test/ssh-place.ts";

const BOX = "/.berth/busybox";

describe("the user of copies, with rsync's own client", () => {
  let place: SshPlace;
  let door: Door22;
  const remote = (path: string, module = "7") => `${COPY_USER}@127.0.0.1::${module}${path}`;
  const rsync = (...words: string[]): Promise<Ran> =>
    place.runToEnd("rsync", ["-e", `ssh ${place.options(door).join(" ")} -p ${door.port}`, ...words]);
  const inside = async (command: string) => (await place.ssh(door, [command])).stdout.toString();
  const asCopier = (...words: string[]) =>
    place.runToEnd("ssh", [...place.options(door), "-p", String(door.port), "-l", COPY_USER, ...words]);

  before(async () => {
    place = await SshPlace.make();
    // The agent's containers have these capabilities; the test's have none by default.
    const capabilities = ["SYS_CHROOT", "CHOWN", "SETUID", "SETGID"].flatMap((name) => ["--cap-add", name]);
    door = await place.container(7, { args: capabilities });
    await place.open(door);
  });
  after(() => place[Symbol.asyncDispose]());

  it("a folder goes in and comes back as published clients ask for it, in an image without rsync", async () => {
    const from = join(place.folder, "two words ünï");
    await mkdir(join(from, "-dash", "empty"), { recursive: true });
    await writeFile(join(from, "-dash", "new\nline [*] 'quoted'"), randomBytes(300_000), { mode: 0o750 });
    await symlink("/etc/absolute", join(from, "absolute"));
    await symlink("../beyond/nowhere", join(from, "dangling"));
    await utimes(join(from, "-dash", "empty"), 1_000_000_000, 1_000_000_000);
    const up = await rsync("-arz", "-v", "--progress", `${from}/`, remote("/data/"));
    assert.deepEqual([up.code, up.stderr], [0, ""]);
    assert.equal(
      await inside("readlink /data/absolute; readlink /data/dangling"),
      "/etc/absolute\n../beyond/nowhere\n",
    );
    for (const [name, path] of [
      ["one", "/data/"],
      ["two", "//data/"],
    ] as const) {
      const back = join(place.folder, name);
      const down = await rsync("-arz", remote(path, name === "two" ? "C.7" : "7"), back);
      assert.deepEqual([down.code, down.stderr], [0, ""]);
      const file = join("-dash", "new\nline [*] 'quoted'");
      assert.deepEqual(await readFile(join(back, file)), await readFile(join(from, file)));
      assert.equal((await stat(join(back, file))).mode & 0o777, 0o750);
      assert.equal((await stat(join(back, "-dash", "empty"))).mtimeMs, 1_000_000_000_000);
      assert.equal(await readlink(join(back, "absolute")), "/etc/absolute");
      assert.equal(await readlink(join(back, "dangling")), "../beyond/nowhere");
    }
  });

  it("this instance's copies alone are open to it: no shell, command, file transfer or forward", async () => {
    for (const words of [["127.0.0.1"], ["127.0.0.1", "id"], ["127.0.0.1", "rsync --server -e.Lsfxx . /"]]) {
      const { code, stdout, stderr } = await asCopier("-T", ...words);
      assert.deepEqual([code, stdout.toString()], [1, ""], words.join(" "));
      assert.match(stderr, /this user is for rsync alone; log in as root/);
    }
    const sftp = await place.runToEnd(
      "sftp",
      ["-b", "-", ...place.options(door), "-P", String(door.port), `${COPY_USER}@127.0.0.1`],
      "ls /\n",
    );
    assert.notEqual(sftp.code, 0);
    const forward = await asCopier("-W", "127.0.0.1:22", "127.0.0.1");
    assert.match(forward.stderr, /forwarding failed/);
    const backwards = await asCopier("-N", "-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:22", "127.0.0.1");
    assert.notEqual(backwards.code, 0);
    const other = await rsync("-a", remote("/", "8"), join(place.folder, "other"));
    assert.notEqual(other.code, 0);
    assert.match(other.stderr + other.stdout.toString(), /Unknown module '8'/);
  });

  it("a path with .. stays within the container, and settings in the image do not count", async () => {
    await docker(
      "exec",
      door.containerId,
      BOX,
      "sh",
      "-c",
      "mkdir -p /etc; echo '[7]\npath = /nowhere' > /etc/rsyncd.conf",
    );
    const hosts = await rsync("-a", remote("/../../../etc/rsyncd.conf"), join(place.folder, "settings"));
    assert.deepEqual([hosts.code, hosts.stderr], [0, ""]);
    assert.match(await readFile(join(place.folder, "settings"), "utf8"), /nowhere/);
  });

  it("a door for copies alone lets in no root, and copies with an image that brings no init of its own", async () => {
    const args = ["SYS_CHROOT", "CHOWN", "SETUID", "SETGID"].flatMap((name) => ["--cap-add", name]);
    const own = { ...(await place.container(9, { args: [...args, "--init=false"] })), isForCopies: true };
    await place.open(door, own);
    const inside9 = (command: string) => docker("exec", own.containerId, BOX, "sh", "-c", command);
    const shell = await place.ssh(own, ["id"]);
    assert.match(shell.stderr, /Permission denied \(publickey\)/);
    const forward = await place.runToEnd("ssh", [...place.options(own), "-p", String(own.port), "-W", "127.0.0.1:22", "root@127.0.0.1"]); // prettier-ignore
    assert.match(forward.stderr, /Permission denied/);
    const asOwn = (...words: string[]) =>
      place.runToEnd("rsync", ["-e", `ssh ${place.options(own).join(" ")} -p ${own.port}`, ...words]);
    const file = join(place.folder, "for-nine");
    await writeFile(file, randomBytes(300_000));
    const up = await asOwn("-a", file, remote("/data/", "9"));
    assert.deepEqual([up.code, up.stderr], [0, ""]);
    const back = join(place.folder, "from-nine");
    assert.equal((await asOwn("-a", remote("/data/for-nine", "C.9"), back)).code, 0);
    assert.deepEqual(await readFile(back), await readFile(file));
    const other = await asOwn("-a", remote("/", "7"), join(place.folder, "of-seven"));
    assert.match(other.stderr + other.stdout.toString(), /Unknown module '7'/);
    const cut = spawn("rsync", ["-e", `ssh ${place.options(own).join(" ")} -p ${own.port}`, "-a", "--bwlimit=50", file, remote("/cut/", "9")], { stdio: "ignore" }); // prettier-ignore
    await until("the copy is under way", async () => (await inside9(`${BOX} ls -A /cut`).catch(() => "")) !== "");
    cut.kill("SIGKILL");
    await until("the programs of copies are over", async () => !(await inside9(`${BOX} ps -o comm,stat`)).includes("rsync")); // prettier-ignore
    await place.open(door, { ...own, isForCopies: false });
    assert.equal((await place.ssh(own, ["echo in"])).stdout.toString(), "in\n", "the orders decide, not the container");
    await place.open(door);
  });

  it("a key that the instance does not have opens no copy either", async () => {
    await place.makeKey("other");
    const denied = await place.runToEnd("ssh", [
      ...place
        .options(door)
        .map((word) => (word === `IdentityFile=${place.key}` ? `IdentityFile=${place.folder}/other` : word)),
      ...["-p", String(door.port), "-l", COPY_USER, "127.0.0.1", "rsync --server --daemon ."],
    ]);
    assert.match(denied.stderr, /Permission denied/);
  });
});
