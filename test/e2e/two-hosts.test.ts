// Two machines that joined a server, each in a network of its own with a Docker Engine of its own, as far as one machine
// can play three: one is cut off, one loses its power, and what both mount goes from one to the other.
import assert from "node:assert/strict";
import { cp, readdir, statfs } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { runBerth } from "../support/berth.ts";
import { mountsBelow } from "../support/hosts/mounts.ts";
import type { Shown } from "../support/renter.ts";
import { startTwoHosts, type Joined, type TwoHosts } from "../support/hosts/two-hosts.ts";
import { until } from "../support/until.ts";

/** How long a host may be silent until its instances are shown as out of reach. */
const OFFLINE_AFTER_S = 60;
/** The size of the volume in GB, and a size in MB that exceeds it. */
const VOLUME_SIZE = 0.1;
const TOO_MUCH_MB = 120;
/** The size of the copied files: large enough that a copy takes a while. */
const CLONED_SIZE = 0.4;
const FILL = `cd /data && dd if=/dev/urandom of=large bs=1M count=150 2>/dev/null && mkdir -p deep/.hidden &&
  echo 'echo it runs' > deep/run && ln -s ../large deep/link && ln deep/run deep/.hidden/same &&
  chown -R 12:34 deep/.hidden && chmod 4751 deep/run && sync`;
const LOOK = `cd /data && sha256sum large deep/run && readlink deep/link && stat -c '%Y' large deep/run &&
  find . | sort | xargs stat -c '%n %a %u:%g %F %h'`;

describe("two machines that joined", () => {
  let world: TwoHosts;
  let a: Joined;
  let b: Joined;
  let onA: Shown;
  let onB: Shown;

  before(async () => {
    world = await startTwoHosts(["10.213.30", "10.213.31"]);
    ({ a, b } = world);
  });
  after(() => world.close());

  const stateOf = async (host: Joined, id: number) => {
    const container = await host.containerOf(id);
    const [startedAt, isRunning] = (await host.inspect(container, "{{.State.StartedAt}} {{.State.Running}}")).split(
      " ",
    );
    return { container, startedAt, isRunning: isRunning === "true" };
  };
  const kept = (host: Joined) => `kept on machine ${host.id}\n`;
  /** The door of a container that has just started may open a moment after it. */
  const read = async (instance: Shown, way: "direct" | "proxy", ...files: readonly string[]) => {
    const { ssh } = await world.renter.client(instance, way);
    return until(`an answer of instance ${instance.id}, ${way}`, async () => {
      const { code, stdout, stderr } = await ssh(`cat ${files.join(" ")}`);
      if (code === 0) return stdout;
      throw new Error(stderr);
    });
  };
  const destroy = async (instance: Shown) => world.renter.destroy(instance.id);

  test("both are on the market at addresses of their own, and no token lets another one in", async () => {
    for (const host of [a, b]) {
      const offers = await until("its offers", async () => {
        const found = await world.offersOf(host);
        return found.length > 0 && found;
      });
      for (const offer of offers) {
        const { resource_type, is_simulated, public_ipaddr } = offer;
        assert.deepEqual([resource_type, is_simulated, public_ipaddr], ["cpu", false, host.address]);
      }
      const words = [...host.words, "--state-dir", `${host.stateDir}-third`, "--simulate", "1"];
      const third = await runBerth(["agent", ...words]);
      assert.equal(third.code, 4);
      assert.match(third.stderr, /This join token was used already/);
    }
    assert.equal((await world.machines()).length, 2);
  });

  test("a restarted agent needs no token, and a copy of its folder on the other machine is refused and noticed", async () => {
    assert.equal(await a.stopAgent(), 0);
    await world.untilConnected(a, false);
    a.startAgent();
    await world.untilConnected(a, true);
    await until("its proof", async () => (await readdir(a.stateDir)).some((name) => name.startsWith("proof-")));
    await cp(a.stateDir, `${b.stateDir}-copy`, { recursive: true });
    const copy = b.startSecondAgent(`${b.stateDir}-copy`);
    const noticed = await until("the copy to be noticed", async () =>
      (await world.machines()).find((machine) => machine.id === a.id && machine.clone_noticed_at !== null),
    );
    assert.ok(noticed.is_connected, "the original stays");
    await until("the copy to be told", () => copy.output().includes("credential_cloned"));
    assert.equal(await copy.stop(), 0);
    assert.doesNotMatch(a.output(), /disconnected|refuses/);
    const now = (await world.machines()).map(({ id, is_connected }) => [id, is_connected]);
    assert.deepEqual(now, [
      [a.id, true],
      [b.id, true],
    ]);
  });

  test("ssh leads to the right one of them, directly and through the proxy", async () => {
    [onA, onB] = await Promise.all([world.rentOn(a), world.rentOn(b)]);
    for (const [host, instance] of [
      [a, onA],
      [b, onB],
    ] as const) {
      await host.inside(instance.id, `printf '${kept(host)}' > /root/kept`);
      assert.equal(instance.public_ipaddr, host.address);
      for (const way of ["direct", "proxy"] as const) {
        assert.equal(await read(instance, way, "/root/kept"), kept(host));
      }
    }
  });

  test("one is cut off: it stops by itself before anybody else can have it, and goes on when the line is mended", async () => {
    const { berth, renter } = world;
    const gone = await world.rentOn(a);
    const [before, besides] = [await stateOf(a, onA.id), await stateOf(b, onB.id)];
    const cutOff = [before.container, await a.containerOf(gone.id)];
    const waiting = "echo in; while [ ! -e /root/over ]; do sleep 1; done; echo over";
    const ways = ["direct", "proxy"] as const;
    const sessions = await Promise.all(ways.map(async (way) => (await renter.client(onB, way)).open(waiting)));
    for (const session of sessions) await until("a session", () => session.output() === "in\n");

    await a.host.machine.setLink("down");
    await renter.done("DELETE", `/api/v0/instances/${gone.id}/`);
    await until("its offers to be gone", async () => (await world.offersOf(a)).length === 0);
    assert.ok((await world.offersOf(b)).length > 0);
    await until("it to stop what it runs", async () => {
      const states = await Promise.all(cutOff.map((container) => a.inspect(container, "{{.State.Running}}")));
      return states.every((isRunning) => isRunning === "false");
    });
    const finished = await Promise.all(cutOff.map((container) => a.inspect(container, "{{.State.FinishedAt}}")));
    const { leaseEnd, released } = await until("what was destroyed to be free", () => fenceOf(world, gone.id));
    for (const at of finished)
      assert.ok(new Date(at) < leaseEnd, `${at}, and the lease ended at ${leaseEnd.toISOString()}`);
    assert.ok(released >= leaseEnd);
    await nobodyCanRent(world, a);
    await renter.untilStatus(onA.id, "offline");
    const [silence] = await berth.sql(
      "select extract(epoch from now() - last_seen_at)::float8 as seconds from machines where id = $1",
      [a.id],
    );
    assert.ok(Number(silence?.["seconds"]) >= OFFLINE_AFTER_S);
    assert.equal((await renter.show(onB.id)).actual_status, "running");

    await a.host.machine.setLink("up");
    await until("it to run again", async () => (await stateOf(a, onA.id)).isRunning);
    assert.equal((await stateOf(a, onA.id)).container, before.container);
    assert.equal(await read(await renter.untilStatus(onA.id, "running"), "direct", "/root/kept"), kept(a));
    await until("nothing of what was destroyed", async () => {
      const { containers, disks } = await a.traces();
      assert.deepEqual([containers.length, disks], [1, [`${onA.id}.img`]]);
      return true;
    });
    assert.deepEqual(await stateOf(b, onB.id), besides);
    await b.inside(onB.id, "touch /root/over");
    assert.deepEqual(await Promise.all(sessions.map((session) => session.ended)), [0, 0]);
    await destroy(await world.rentOn(a));
  });

  test("a file written on a network disk on one machine is there on the other, and only one of them has the disk at a time", async () => {
    const { renter, sharedDirectory } = world;
    const images = path.join(sharedDirectory, "berth-volumes");
    const usedBlocks = async () => {
      const { blocks, bfree } = await statfs(sharedDirectory);
      return blocks - bfree;
    };
    const blocks = await usedBlocks();
    const offer = await networkOffer(world);
    const { id } = await renter.done("PUT", "/api/v0/network_volumes/", { id: offer, size: VOLUME_SIZE });
    const linked = { volume_info: { create_new: false, volume_id: id, mount_path: "/shared" } };

    const writer = await world.rentOn(a, linked);
    await a.inside(writer.id, "echo written > /shared/file");
    const much = `dd if=/dev/zero of=/shared/much bs=1M count=${TOO_MUCH_MB} 2>&1 || true`;
    assert.match(await a.inside(writer.id, much), /No space left on device/);
    await a.inside(writer.id, "rm /shared/much");
    const refused = await until("another than that the offer is gone", async () => {
      const offerOfB = await renter.anOffer({ machine_id: { eq: b.id } });
      const answer = await renter.call("PUT", `/api/v0/asks/${offerOfB}/`, { image: "busybox", disk: 8, ...linked });
      return answer.status !== 410 && answer;
    });
    assert.deepEqual([refused.status, refused.body.error, refused.body.instance_id], [409, "volume_in_use", writer.id]);
    const busy = await renter.call("DELETE", "/api/v0/volumes/", { id });
    assert.ok(busy.status >= 400 && busy.status < 500, busy.text);
    await destroy(writer);

    const reader = await until("a rental with it", () => world.rentOn(b, linked));
    assert.equal(await b.inside(reader.id, "cat /shared/file"), "written");
    await destroy(reader);
    await until("its end", async () => (await renter.call("DELETE", "/api/v0/volumes/", { id })).status === 200);
    await until("no byte of it", async () => {
      assert.deepEqual(await readdir(images), []);
      return (await usedBlocks()) <= blocks;
    });
  });

  test("a clone on the other machine is the same to the last bit, though an agent was killed over it", async () => {
    const { renter } = world;
    const listings = await localOffers(world);
    const { id } = await renter.done("PUT", "/api/v0/volumes/", { id: listings.get(a.id), size: CLONED_SIZE });
    const link = (volume: number) => ({ volume_info: { create_new: false, volume_id: volume, mount_path: "/data" } });
    const writer = await world.rentOn(a, link(id));
    await a.inside(writer.id, FILL);
    const sums = await a.inside(writer.id, LOOK);
    const cloned = await renter.done("POST", "/api/v0/volumes/copy/", { src_id: id, dst_id: listings.get(b.id) });
    const volume = async () => {
      const { volumes } = await renter.done("GET", "/api/v0/volumes/");
      return volumes.find((one: { readonly id: number }) => one.id === cloned.id);
    };
    await until("it to be under way", async () => (await volume()).status_msg.startsWith("copying"));
    assert.match((await volume()).status, /^cloning/);
    await b.stopAgent("SIGKILL");
    assert.match((await volume()).status, /^cloning/);
    b.startAgent();
    await until("it to be complete", async () => (await volume()).status === "available");
    const reader = await world.rentOn(b, link(cloned.id));
    assert.equal(await b.inside(reader.id, LOOK), sums);

    const wish = { client_id: "me", src_id: `C.${writer.id}`, src_path: "/data/deep/", dst_id: `C.${reader.id}` };
    await renter.done("PUT", "/api/v0/commands/copy_direct/", { ...wish, dst_path: "/root/copied" });
    const copied = await until("what was copied between them", async () => {
      const { status_msg } = await renter.show(reader.id);
      return status_msg?.includes("is complete") && b.inside(reader.id, "cat /root/copied/run");
    });
    assert.equal(copied, "echo it runs");
    await Promise.all([writer, reader].map(destroy));
    for (const volumeId of [id, cloned.id]) {
      const gone = async () => (await renter.call("DELETE", "/api/v0/volumes/", { id: volumeId })).status === 200;
      await until("its end", gone);
    }
  });

  test("one loses its power: what it ran goes on with its files, as the same rental, and nobody else notices", async () => {
    const { renter } = world;
    const [before, besides] = [await stateOf(b, onB.id), await stateOf(a, onA.id)];
    await b.inside(onB.id, "echo unsaved > /root/later && sync");
    await b.losePower();
    assert.deepEqual(await mountsBelow(b.stateDir), []);
    await world.untilConnected(b, false);
    await b.boot();
    await until("it to run again", async () => (await stateOf(b, onB.id)).isRunning);
    const after = await stateOf(b, onB.id);
    assert.equal(after.container, before.container);
    assert.notEqual(after.startedAt, before.startedAt);
    const instance = await renter.untilStatus(onB.id, "running");
    for (const way of ["direct", "proxy"] as const) {
      assert.equal(await read(instance, way, "/root/kept", "/root/later"), `${kept(b)}unsaved\n`);
    }
    assert.deepEqual(await stateOf(a, onA.id), besides);
  });

  test("when all is destroyed nothing is left on either", async () => {
    await Promise.all([onA, onB].map(destroy));
    for (const host of [a, b]) {
      await until("no trace", async () => {
        assert.deepEqual(await host.traces(), { containers: [], disks: [], mounts: [], loopDevices: [] });
        return true;
      });
    }
    assert.deepEqual(await soldTwice(world), []);
  });
});

/** The end of its machine's heartbeat lease, and the time at which its GPU grants ended; undefined while one lives. */
async function fenceOf({ berth }: TwoHosts, instanceId: number) {
  const [row] = await berth.sql(
    `select machines.lease_until_at, max(leases.released_at) as released_at
     from leases join machines on machines.id = leases.machine_id
     where instance_id = $1 group by machines.id having bool_and(released_at is not null)`,
    [instanceId],
  );
  const { lease_until_at: leaseEnd, released_at: released } = row ?? {};
  return leaseEnd instanceof Date && released instanceof Date ? { leaseEnd, released } : undefined;
}

/** Checks that nobody can rent, not even with an offer that was there before. */
async function nobodyCanRent({ berth, renter }: TwoHosts, host: Joined): Promise<void> {
  const offers = await berth.sql("select id from offers where machine_id = $1", [host.id]);
  assert.ok(offers.length > 0);
  for (const { id } of offers) {
    const answer = await renter.call("PUT", `/api/v0/asks/${Number(id)}/`, { image: "busybox", disk: 8 });
    assert.equal(answer.status, 410, answer.text);
  }
}

/** A network disk that both mount, registered and listed by their owner; the id of what renters find. */
async function networkOffer({ berth, renter, a, b, sharedDirectory }: TwoHosts): Promise<number> {
  const own = async (target: string, body: object) => {
    const answer = await berth.call("POST", target, { key: berth.adminKey, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const mount = { machines: [a.id, b.id], mount_point: sharedDirectory, size: 1 };
  const { disk_id } = await own("/api/v0/network_disk/", mount);
  await own("/api/v0/network_volume/", { disk_id, size: 1, price_disk: 0.1 });
  const { offers } = await renter.done("POST", "/api/v0/network_volumes/search/", {});
  assert.equal(offers.length, 1);
  return offers[0].id;
}

/** Offers of space on the own disks of both hosts, by machine. */
async function localOffers({ berth, renter, a, b }: TwoHosts): Promise<ReadonlyMap<number, number>> {
  const body = { machine: [a.id, b.id], size: 1, price_disk: 0.1 };
  const answer = await berth.call("POST", "/api/v0/volumes/", { key: berth.adminKey, body });
  assert.equal(answer.status, 200, answer.text);
  const offers = await until("both offers", async () => {
    const found = await renter.done("POST", "/api/v0/volumes/search/", {});
    return found.offers.length === 2 && found.offers;
  });
  return new Map(offers.map((offer: { id: number; machine_id: number }) => [offer.machine_id, offer.id]));
}

/** Pairs of GPU grants of one device at one time. */
function soldTwice({ berth }: TwoHosts) {
  return berth.sql(
    `select one.id, other.id from leases one join leases other on other.device_id = one.device_id and other.id > one.id
     where other.granted_at < coalesce(one.released_at, 'infinity')
       and one.granted_at < coalesce(other.released_at, 'infinity')`,
  );
}
