// Data that outlives a rental: volumes, copies between instances and volumes, and images that a renter makes of an instance.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { docker } from "../support/hosts/docker.ts";
import { REGISTRY_LOGIN, startPrivateRegistry, type Registry } from "../support/hosts/registry.ts";
import { aRenter, untilUntouched, type Renter, type Shown } from "../support/renter.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { until } from "../support/until.ts";

const GB = 1_000_000_000;
const BUSYBOX = "/.berth/busybox";

describe("what outlives a rental", () => {
  let machine: ThisMachine;
  let renter: Renter;
  let registry: Registry;
  const cleanups: (() => Promise<unknown>)[] = [];

  /** Rents with a new volume, or with one that is there. */
  const rentWith = (volume: number | "new"): Promise<Shown> => {
    if (volume !== "new") return renter.rentAndRun({ runtype: "ssh_direct", env: `-v V.${volume}:/data` });
    return until("an instance with a new volume", async () => {
      const { offers } = await renter.done("POST", "/api/v0/volumes/search/", {
        machine_id: { eq: machine.machineId },
      });
      const volume_info = { create_new: true, volume_id: offers[0].id, size: 1, mount_path: "/data" };
      return renter.rentAndRun({ runtype: "ssh_direct", volume_info });
    });
  };
  const volumes = async () => (await renter.done("GET", "/api/v0/volumes")).volumes;
  const inside = (instance: Shown, command: string) => renter.inside(instance, command);
  const copy = async (from: string, to: string, shownBy: Shown) => {
    await renter.told("copy", from, to);
    const route = [from, to].map((place) => place.split(":")[0]?.replace(/^(?=\d)/, "C."));
    await renter.untilMessage(shownBy.id, new RegExp(`^copy from ${route.join(" to ")} is complete$`));
  };
  const deleteVolume = (id: number) =>
    until(`volume ${id} is let go`, async () => {
      return (await renter.call("DELETE", `/api/v0/volumes/?id=${id}`)).status === 200;
    });
  const filesOf = async (folder: string) => (await machine.traces()).files.filter((file) => file.startsWith(folder));

  before(async () => {
    machine = await startThisMachine(31_400);
    cleanups.push(() => machine.close());
    registry = await startPrivateRegistry();
    cleanups.push(() => registry.close());
    renter = await aRenter(machine, "keeper");
    cleanups.push(() => renter.close());
    const listing = { machine: machine.machineId, size: 3 };
    const listed = await machine
      .berth()
      .call("POST", "/api/v0/volumes/", { key: machine.berth().adminKey, body: listing });
    assert.equal(listed.status, 200, listed.text);
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("a volume keeps its files and its size when its instance goes, takes one writer, and is deleted without a trace", async () => {
    const first = await rentWith("new");
    const [volume] = await volumes();
    assert.deepEqual(volume.instances, [first.id]);
    const [, size] = (await inside(first, `${BUSYBOX} df -P -k /data`)).split("\n")[1]?.split(/\s+/) ?? [];
    assert.ok(Number(size) * 1024 > 0.9 * GB && Number(size) * 1024 <= GB, size);
    const tooMuch = await (await renter.client(first)).ssh(`${BUSYBOX} fallocate -l ${2 * GB} /data/most`);
    assert.match(tooMuch.stderr, /No space left on device/);
    await inside(first, "rm -f /data/most; echo lasting > /data/file; echo passing > /root/file");
    assert.deepEqual(await filesOf("volumes/"), [`volumes/${volume.id}.img`]);

    const order = { image: machine.image, disk: 8, env: `-v V.${volume.id}:/data` };
    const second = await until("another than that the offer is gone", async () => {
      const answer = await renter.call("PUT", `/api/v0/asks/${await renter.anOffer()}/`, order);
      return answer.status !== 410 && answer;
    });
    assert.deepEqual([second.status, second.body.error], [409, "volume_in_use"], second.text);
    const early = await renter.call("DELETE", `/api/v0/volumes/?id=${volume.id}`);
    assert.equal(early.status, 409, early.text);

    await renter.destroy(first.id);
    const next = await until("a second instance", async () => {
      // The first is the writer until its host has said that nothing of it is left.
      const answer = await renter.call("PUT", `/api/v0/asks/${await renter.anOffer()}/`, {
        ...order,
        runtype: "ssh_direct",
      });
      return answer.status === 200 && renter.untilStatus(answer.body.new_contract, "running");
    });
    assert.equal(await inside(next, "cat /data/file; test -e /root/file || echo gone"), "lasting\ngone\n");
    await renter.destroy(next.id);
    await deleteVolume(volume.id);
    assert.deepEqual(await volumes(), []);
    await untilUntouched(machine, renter);
  });

  test("files are copied between two instances, and between an instance and a volume, also of one that is stopped", async () => {
    const from = await rentWith("new");
    const to = await renter.rentAndRun({ runtype: "ssh_direct" });
    const [volume] = await volumes();
    await inside(
      from,
      "mkdir -p /files/deep && echo one > /files/one && echo two > '/files/deep/two words' && ln -s one /files/link",
    );
    const tree = "deep\nlink\none\ntwo\n";
    const check = "ls /there; cat '/there/deep/two words'";

    await copy(`${from.id}:/files/`, `${to.id}:/there`, to);
    assert.equal(await inside(to, check), tree);

    await copy(`${to.id}:/there/`, `V.${volume.id}:/kept`, to);
    assert.equal(await inside(from, "ls /data/kept; cat /data/kept/link"), "deep\nlink\none\none\n");

    await renter.told("stop", String(to.id));
    await renter.untilStatus(to.id, "stopped");
    await renter.told("execute", String(to.id), "rm -r /there");
    await copy(`V.${volume.id}:/kept/`, `${to.id}:/there`, to);
    assert.match(await renter.told("execute", String(to.id), "ls /there/deep"), /^two words$/m);
    await renter.told("start", String(to.id));
    assert.equal(await inside(await renter.untilStatus(to.id, "running"), check), tree);

    const outside = await renter.call("PUT", "/api/v0/commands/copy_direct/", {
      ...{ src_id: `C.${from.id}`, src_path: "/files/../../etc", dst_id: `C.${to.id}`, dst_path: "/x" },
    });
    assert.equal(outside.status, 400, outside.text);
    for (const { id } of [from, to]) await renter.destroy(id);
    await deleteVolume(volume.id);
    await untilUntouched(machine, renter);
  });

  test("a snapshot is pushed to the renter's registry, and rented from there with what was in it", async () => {
    const instance = await renter.rentAndRun({ runtype: "ssh_direct" });
    await inside(instance, "echo trained > /root/model");
    const [name, tag] = ["me/model", "v1"];
    const { user, password } = REGISTRY_LOGIN;
    const words = [
      "--registry",
      registry.address,
      "--repo",
      `${name}:${tag}`,
      "--login-user",
      user,
      "--login-password",
      password,
    ];
    await renter.told("snapshot", String(instance.id), ...words);
    const image = `${registry.address}/${name}:${tag}`;
    cleanups.push(() => docker("rmi", "-f", image).catch(() => undefined));
    await renter.untilMessage(instance.id, new RegExp(`^snapshot to ${image} is complete$`));
    await renter.destroy(instance.id);
    await untilUntouched(machine, renter);

    const image_login = `-u ${user} -p ${password} ${registry.address}`;
    const again = await renter.rentAndRun({ image, image_login, runtype: "ssh_direct" });
    assert.equal(await inside(again, "cat /root/model"), "trained\n");
    await renter.destroy(again.id);
    await untilUntouched(machine, renter);
  });
});
