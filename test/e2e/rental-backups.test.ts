// Backups of a real instance and its volume: made on the operator's request, downloaded after the instance is gone, read
// with the tar of the distribution, and copied back into another instance.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { aRenter, untilUntouched, type Renter, type Shown } from "../support/renter.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
const FILL = `b=/.berth/busybox; mkdir -p /root/data/deep && cd /root/data && $b head -c 3000000 /dev/urandom > large &&
  echo 'echo it runs' > deep/run && ln deep/run same && chown -R 12:34 deep && ln -s ../large deep/link &&
  chmod 4751 deep/run && rm /bin/wget && $b mkfifo pipe`;
/** Everything in the folder that the script is given. */
const LOOK = `b=/.berth/busybox; cd "$0" && $b sha256sum large deep/run && $b readlink deep/link &&
  $b stat -c '%Y' large deep/run && $b find . | $b sort | $b xargs $b stat -c '%n %a %u:%g %F %h'`;

type BackupRow = {
  readonly contract_id: number;
  readonly type: string;
  readonly status: string;
  readonly info: string;
};

describe("backups of what is rented", () => {
  let machine: ThisMachine;
  let renter: Renter;
  let folder: string;
  const cleanups: (() => Promise<unknown>)[] = [];

  const backups = async (): Promise<readonly BackupRow[]> =>
    (await renter.done("GET", "/api/v0/instance_backups/")).backups;
  const lookAt = (instance: Shown, at: string) =>
    renter.inside(instance, `sh -c '${LOOK.replaceAll("'", `'\\''`)}' ${at}`);
  const restore = async (contractId: number, from: string, to: Shown, at: string) => {
    await renter.told("copy", `vast.${contractId}:${from}`, `${to.id}:${at}`);
    await renter.untilMessage(to.id, new RegExp(`^copy from vast.${contractId} to C.${to.id} is complete$`));
  };

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "berth-backups-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    machine = await startThisMachine(31_900, { BERTH_BACKUP_DIR: folder });
    cleanups.push(() => machine.close());
    renter = await aRenter(machine, "backups");
    cleanups.push(() => renter.close());
    const listing = { machine: machine.machineId, size: 2 };
    const { adminKey: key } = machine.berth();
    assert.equal((await machine.berth().call("POST", "/api/v0/volumes/", { key, body: listing })).status, 200);
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("an instance and its volume are kept beyond their end, and come back with owners, modes and links", async () => {
    const first = await until("an instance with a new volume", async () => {
      const wish = { machine_id: { eq: machine.machineId } };
      const { offers } = await renter.done("POST", "/api/v0/volumes/search/", wish);
      const volume_info = { create_new: true, volume_id: offers[0].id, size: 1, mount_path: "/data" };
      return renter.rentAndRun({ runtype: "ssh_direct", volume_info });
    });
    const [volume] = (await renter.done("GET", "/api/v0/volumes")).volumes;
    await renter.inside(first, `${FILL} && echo lasting > /data/file`);
    const before = await lookAt(first, "/root/data");

    const asked = await machine.berth().admin("back-up-machine", String(machine.machineId));
    assert.equal(asked["queued"], 2);
    await until("both backups", async () => {
      const rows = await backups();
      assert.ok(
        rows.every(({ status }) => status !== "error"),
        JSON.stringify(rows),
      );
      return rows.length === 2 && rows.every(({ status }) => status === "success");
    });
    await renter.destroy(first.id);

    const files = await renter.done("GET", `/api/v0/instance_backups/${first.id}/download/`);
    const kept = files.files.find((one: { name: string }) => one.name === `instance-${first.id}.tar.gz`);
    const answer = await fetch(kept.url, { headers: { authorization: files.authorization_token } });
    assert.deepEqual([answer.status, answer.headers.get("content-length")], [200, String(kept.size)]);
    const archive = path.join(renter.folder, "backup.tar.gz");
    await writeFile(archive, Buffer.from(await answer.arrayBuffer()));
    const { stdout } = await run("tar", ["--numeric-owner", "-tvzf", archive]);
    // Either name of a file with two may come first: the other one is a link to it.
    assert.match(stdout, /^-rwsr-x--x 12\/34 .* \.\/upper\/root\/data\/(deep\/run|same)$/m);
    assert.match(stdout, /^hrwsr-x--x 12\/34 .* \.\/upper\/root\/data\/(deep\/run|same) link to /m);
    assert.doesNotMatch(
      stdout,
      /^[bc]|\/bin\/busybox$|\.\/upper\/bin\/wget/m,
      "neither the image nor what was deleted",
    );

    const second = await renter.rentAndRun({ runtype: "ssh_direct" });
    await restore(first.id, "/upper/root/data", second, "/srv/");
    assert.equal(await lookAt(second, "/srv/data"), before);
    await restore(volume.id, "/", second, "/srv/volume");
    assert.equal(await renter.inside(second, "cat /srv/volume/file"), "lasting\n");
    await restore(first.id, "/upper/root/data/deep/run", second, "/srv/one");
    assert.equal(
      await renter.inside(second, "sh /srv/one; /.berth/busybox stat -c %u:%g /srv/one"),
      "it runs\n12:34\n",
    );
    await renter.destroy(second.id);
  });

  test("a stopped instance is backed up as well", async () => {
    const instance = await renter.rentAndRun({ runtype: "ssh_direct" });
    await renter.inside(instance, "echo stopped > /root/file");
    await renter.done("PUT", `/api/v0/instances/${instance.id}/`, { state: "stopped" });
    await renter.untilStatus(instance.id, "stopped");
    await machine.berth().admin("back-up-machine", String(machine.machineId));
    await until("its backup", async () => {
      const row = (await backups()).find((one) => one.contract_id === instance.id && one.type === "instance");
      assert.notEqual(row?.status, "error", row?.info);
      return row?.status === "success";
    });
    await renter.done("PUT", `/api/v0/instances/${instance.id}/`, { state: "running" });
    const again = await renter.untilStatus(instance.id, "running");
    await renter.inside(again, "rm /root/file");
    await restore(instance.id, "/upper/root/", again, "/root");
    assert.equal(await renter.inside(again, "cat /root/file"), "stopped\n");
    await renter.destroy(instance.id);
    assert.ok((await readdir(folder)).every((name) => /^\d+-1\.tar\.gz$/.test(name)));
  });

  test("the machine keeps no trace of rentals and backups", async () => {
    for (const { id } of (await renter.done("GET", "/api/v0/volumes")).volumes) {
      await until("the volume is let go", async () => {
        return (await renter.call("DELETE", `/api/v0/volumes/?id=${id}`)).status === 200;
      });
    }
    await untilUntouched(machine, renter);
  });
});
