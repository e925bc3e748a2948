import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, readFile, readlink, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { COPY_USER } from "../../../protocol/index.ts";
import { docker } from "../../../test/support/hosts/docker.ts";
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
