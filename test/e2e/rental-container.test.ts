// The content of a rented container: its disk, its variables and its ports; and the rights that no option gives it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { docker } from "../support/hosts/docker.ts";
import { aRenter, untilUntouched, type Renter, type Shown } from "../support/renter.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { until } from "../support/until.ts";

const GB = 1_000_000_000;
const EXPOSING = "berth-test/exposing:1";
const BUSYBOX = "/.berth/busybox";
/** Options that are each one token of a docker command line to a program that hands them on unread. */
const HOSTILE_OPTIONS = [
  "-e LD_PRELOAD=/tmp/hook.so",
  "-e NVIDIA_VISIBLE_DEVICES=all -e NVIDIA_DRIVER_CAPABILITIES=all -e CUDA_VISIBLE_DEVICES=0",
  "--privileged --cap-add=ALL --security-opt seccomp=unconfined",
  "-v /:/host -v /var/run/docker.sock:/run/docker.sock --volume=/etc:/etc --mount type=bind,src=/,dst=/host",
  "--gpus all --device /dev/kmsg --device=/dev/loop0:/dev/disk --runtime=nvidia",
  "--network host --net=host --pid=host --ipc host --uts=host --userns=host --cgroup-parent=/",
  `-e "QUOTED=a' --privileged -v /:/host '" -e 'OTHER=" --gpus all "'`,
  "-e LINES=one\n--privileged\n-v\n/:/host\r\n--device\n/dev/kmsg",
  "-e CONTAINER_ID=1 -e VAST_CONTAINERLABEL=C.1 -e PUBLIC_IPADDR=192.0.2.9 -e $(touch /tmp/owned)=1 -e `id`=1",
  "-p 99999999:1 -p 0:0 -p 80:65536 -p -1:80 -p 8080:8080;reboot -h -rf -h ../../etc -n ../host",
  "-v V.1:/../../etc -v V.../..:/host -v V.1:relative -v V.0:/proc",
  // The quote is never closed.
  `-e OPEN="--privileged -v /:/host`,
];

describe("a rented container", () => {
  let machine: ThisMachine;
  let renter: Renter;
  const cleanups: (() => Promise<unknown>)[] = [];

  const inspect = async (id: number) => {
    const [inspected] = JSON.parse(await docker("inspect", await machine.containerOf(id)));
    return inspected;
  };
  /** Variables of its first process. */
  const environmentOf = async (instance: Shown) => {
    const text = await renter.inside(instance, "tr '\\0' '\\n' < /proc/1/environ");
    return new Map(text.split("\n").map((line) => [line.split("=")[0] ?? "", line.slice(line.indexOf("=") + 1)]));
  };

  before(async () => {
    machine = await startThisMachine(31_200);
    cleanups.push(() => machine.close());
    renter = await aRenter(machine, "container");
    cleanups.push(() => renter.close());
    const made = await docker("create", machine.image);
    await docker("commit", "--change", "EXPOSE 5000 5001/udp", "--change", "VOLUME /kept", made, EXPOSING);
    cleanups.push(() => docker("rmi", "-f", EXPOSING));
    await docker("rm", made);
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("has its disk to the end and no byte more, its variables, the account's secrets, and a port for all that it listens on", async () => {
    await renter.told("env-var", "create", "HF_TOKEN", "hf_of-this-account");
    const instance = await renter.rentAndRun({
      image: EXPOSING,
      runtype: "ssh_direct",
      env: { MINE: "two words", "-p 70000:70000": "1", "-p 53:53/udp": "1" },
    });
    const ports = new Map(Object.entries(instance.ports).map(([name, [first]]) => [name, first?.HostPort]));
    const env = await environmentOf(instance);
    const identity = env.get("VAST_TCP_PORT_70000") ?? "";
    assert.deepEqual(
      [...ports.keys()].toSorted(),
      ["22/tcp", "53/udp", "5000/tcp", "5001/udp", `${identity}/tcp`].toSorted(),
    );
    assert.equal(ports.get(`${identity}/tcp`), identity, "an identity port is the same on both sides");
    const expected = {
      MINE: "two words",
      HF_TOKEN: "hf_of-this-account",
      CONTAINER_ID: String(instance.id),
      VAST_CONTAINERLABEL: `C.${instance.id}`,
      CONTAINER_LABEL: `C.${instance.id}`,
      PUBLIC_IPADDR: instance.public_ipaddr,
      SSH_PUBLIC_KEY: renter.keys.publicKey,
      GPU_COUNT: "0",
      DATA_DIRECTORY: "/workspace/",
      VAST_TCP_PORT_22: ports.get("22/tcp"),
      VAST_TCP_PORT_5000: ports.get("5000/tcp"),
      VAST_UDP_PORT_5001: ports.get("5001/udp"),
      VAST_UDP_PORT_53: ports.get("53/udp"),
    };
    assert.partialDeepStrictEqual(Object.fromEntries(env), expected);
    const own = (await renter.inside(instance, `${BUSYBOX} hostname -i`)).trim();
    await until("its own address in the record", async () => (await renter.show(instance.id)).local_ipaddrs === own);
    for (const name of ["CONTAINER_API_KEY", "OPEN_BUTTON_TOKEN"]) assert.match(env.get(name) ?? "", /./, name);

    for (const folder of ["/", "/kept"]) {
      const [, size] =
        (await renter.inside(instance, `${BUSYBOX} df -P -k ${folder}`)).split("\n")[1]?.split(/\s+/) ?? [];
      const bytes = Number(size) * 1024;
      assert.ok(bytes > 7.5 * GB && bytes <= 8 * GB, `${folder}: ${bytes}`);
    }
    const tooMuch = await (await renter.client(instance)).ssh(`${BUSYBOX} fallocate -l ${9 * GB} /kept/most`);
    assert.match(tooMuch.stderr, /No space left on device/);
    assert.notEqual(tooMuch.code, 0);
    await renter.destroy(instance.id);
    await untilUntouched(machine, renter);
  });

  test("gets no privilege, no device and no part of the host by any option", async () => {
    const bodies = [
      { env: HOSTILE_OPTIONS.join(" ") },
      // As an object, each option that has no meaning is ignored and each malformed one refused.
      { env: Object.fromEntries(HOSTILE_OPTIONS.filter((text) => text.startsWith("--")).map((text) => [text, "1"])) },
    ];
    for (const body of bodies) {
      const instance = await renter.rentAndRun({ runtype: "ssh_direct", ...body });
      const { HostConfig, Mounts, Config } = await inspect(instance.id);
      const { Privileged, Binds, Devices, DeviceRequests, Runtime, NetworkMode, PidMode, UTSMode, UsernsMode } =
        HostConfig;
      assert.deepEqual([Privileged, Binds ?? [], Devices ?? [], DeviceRequests ?? []], [false, [], [], []]);
      assert.deepEqual([Runtime, PidMode, UTSMode, UsernsMode], ["runc", "", "", ""]);
      assert.equal(HostConfig.IpcMode, "private");
      assert.match(NetworkMode, /^berth-[0-9a-f]{8}$/);
      assert.deepEqual(HostConfig.SecurityOpt, ["no-new-privileges"]);
      assert.deepEqual(HostConfig.CapDrop, ["ALL"]);
      for (const capability of ["SYS_ADMIN", "MKNOD", "NET_ADMIN", "NET_RAW", "SYS_PTRACE"]) {
        assert.ok(
          !HostConfig.CapAdd.includes(capability) && !HostConfig.CapAdd.includes(`CAP_${capability}`),
          capability,
        );
      }
      const mounts: readonly { Destination: string; RW: boolean }[] = Mounts;
      assert.deepEqual(
        mounts.map(({ Destination, RW }) => ({ Destination, RW })),
        [{ Destination: "/.berth", RW: false }],
      );
      const env: readonly string[] = Config.Env;
      assert.deepEqual(env.filter((line) => /^NVIDIA_|^CONTAINER_ID=/.test(line)).toSorted(), [
        `CONTAINER_ID=${instance.id}`,
        "NVIDIA_VISIBLE_DEVICES=void",
      ]);
      assert.deepEqual(Object.keys(instance.ports), ["22/tcp"]);
      // It runs as the renter meant it, where that is the renter's own affair.
      assert.equal((await renter.inside(instance, "echo here")).trim(), "here");
      await renter.destroy(instance.id);
    }
    await untilUntouched(machine, renter);
  });

  test("is refused in one sentence, and not made, for options that cannot be", async () => {
    const offer = await renter.anOffer();
    const refused: readonly [string, object, RegExp][] = [
      ["a NUL", { env: "-e A=1\0 --privileged" }, /NUL/],
      ["a NUL in an object", { env: { A: "1\0" } }, /NUL/],
      ["a megabyte", { env: `-e A=${"x".repeat(1_000_000)}` }, /longer than 32768/],
      ["a long value", { env: { A: "x".repeat(300) } }, /256 characters/],
      ["half a character", { env: { A: "\ud800" } }, /surrogate/],
      ["65 ports", { env: Array.from({ length: 65 }, (_, index) => `-p ${index + 1}:${index + 1}`).join(" ") }, /64/],
      ["a port out of range", { env: { "-p 80:65536": "1" } }, /-p 80:65536.*malformed/],
      ["a folder of the host", { env: { "-v /:/host": "1" } }, /-v .*malformed/],
      ["a list", { env: ["-e A=1"] }, /env/],
      [
        "a relative mount path",
        { volume_info: { create_new: true, volume_id: 1, mount_path: "data" } },
        /absolute path/,
      ],
      ["a mount over the kernel's", { volume_info: { create_new: true, volume_id: 1, mount_path: "/proc" } }, /\/proc/],
      ["a disk too large", { disk: 1e12 }, /disk/],
      ["a runtype that is none", { runtype: "root" }, /runtype/],
      ["a user with options", { user: "root --privileged" }, /user/],
      ["an image with options", { image: `${machine.image} --privileged` }, /image/],
      ["an address as image", { image: "http://127.0.0.1/image" }, /image/],
    ];
    for (const [what, body, pattern] of refused) {
      const order = { image: machine.image, disk: 8, ...body };
      // Not with curl, whose command line has no room for a megabyte.
      const answer = await machine.berth().call("PUT", `/api/v0/asks/${offer}/`, { key: renter.key, body: order });
      assert.ok(answer.status === 400 || answer.status === 413, `${what}: ${answer.status} ${answer.text}`);
      assert.match(answer.body.msg, pattern, what);
      assert.match(answer.body.msg, /^[^\n]{1,400}$/, what);
    }
    for (const key of [
      "no key",
      "ssh-rsa AAAA",
      `command="id" ${renter.keys.publicKey}`,
      `${renter.keys.publicKey}\n${renter.keys.publicKey}x`,
    ]) {
      const answer = await renter.call("POST", "/api/v0/ssh/", { ssh_key: key });
      assert.equal(answer.status, 400, `${key}: ${answer.text}`);
    }
    const { instances } = await renter.done("GET", "/api/v0/instances/");
    assert.deepEqual(instances, []);
    await untilUntouched(machine, renter);
  });
});
