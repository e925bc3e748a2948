// Rentals that cannot work: each ends in a stated state, with one sentence that says what to do, costs nothing for a run
// that never was, and leaves nothing on the host.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { docker } from "../support/hosts/docker.ts";
import { REGISTRY_LOGIN, startPrivateRegistry, type Registry } from "../support/hosts/registry.ts";
import { aRenter, untilUntouched, type Renter, type Shown } from "../support/renter.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { until } from "../support/until.ts";

describe("a rental that cannot work", () => {
  let machine: ThisMachine;
  let renter: Renter;
  let stranger: Renter;
  let registry: Registry;
  let privateImage = "";
  const cleanups: (() => Promise<unknown>)[] = [];

  const login = (password: string) => `-u ${REGISTRY_LOGIN.user} -p ${password} ${registry.address}`;
  /** Billed milliseconds of all runs of an instance. */
  const runningMs = async (id: number) => {
    const rows = await machine.berth().sql("select running_ms from instance_runs where instance_id = $1", [id]);
    return rows.reduce((sum, row) => sum + Number(row["running_ms"]), 0);
  };
  /** A program is seen to end a moment after it did; that is less than a second. */
  const isFair = async (id: number, ranMs: number) => {
    const billedMs = await runningMs(id);
    assert.ok(billedMs < ranMs + 1_000, `${billedMs} ms are billed of ${ranMs}`);
  };
  /** Rents, waits for the sentence, and checks that it stays, at no cost, until the instance is destroyed. */
  const fails = async (by: Renter, body: object, sentence: RegExp, status = ["created", "loading"]): Promise<Shown> => {
    const id = await by.rent({ runtype: "args", ...body });
    const instance = await by.untilMessage(id, sentence);
    const { status_msg: message, actual_status: shown } = instance;
    assert.ok(shown !== null && status.includes(shown), `${shown}: ${message}`);
    assert.match(message ?? "", /^[^\n]{1,600}$/);
    assert.ok(!message?.includes("wrong-password") && !message?.includes(REGISTRY_LOGIN.password));
    assert.equal(await runningMs(id), 0);
    await by.destroy(id);
    await untilUntouched(machine, by);
    assert.equal(await runningMs(id), 0);
    return instance;
  };

  before(async () => {
    machine = await startThisMachine(31_300);
    cleanups.push(() => machine.close());
    registry = await startPrivateRegistry();
    cleanups.push(() => registry.close());
    renter = await aRenter(machine, "mistaken");
    cleanups.push(() => renter.close());
    stranger = await aRenter(machine, "stranger");
    cleanups.push(() => stranger.close());
    privateImage = await registry.push(await anotherImage(machine.image), "private/app:1");
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("an image that does not exist, a registry that refuses, and one that is not there", async () => {
    const image_login = login(REGISTRY_LOGIN.password);
    const missing = `${registry.address}/private/app:2`;
    await fails(renter, { image: missing, image_login }, /private\/app:2 cannot be pulled: check its name and tag/);
    await fails(
      renter,
      { image: privateImage, image_login: login("wrong-password") },
      /user and password of image_login/,
    );
    await fails(renter, { image: privateImage }, /pass image_login if it is private/);
    await fails(renter, { image: "127.0.0.1:1/nobody/has-this" }, /cannot be pulled/);
  });

  test("a private image that another renter's login brought here is not for somebody without one", async () => {
    const owners = await renter.rentAndRun({
      image: privateImage,
      image_login: login(REGISTRY_LOGIN.password),
      runtype: "args",
    });
    const [{ Image: imageId }] = JSON.parse(await docker("inspect", await machine.containerOf(owners.id)));
    assert.match(imageId, /^sha256:[0-9a-f]{64}$/);
    await renter.destroy(owners.id);
    await untilUntouched(machine, renter);
    assert.match(await docker("images", "-q", "--no-trunc", privateImage), /^sha256:/, "it is on the host");

    await fails(stranger, { image: privateImage }, /pass image_login if it is private/);
    await fails(stranger, { image: privateImage, image_login: login("wrong-password") }, /image_login/);
    for (const image of [imageId, imageId.slice("sha256:".length), imageId.slice("sha256:".length, 19)]) {
      await fails(stranger, { image }, /cannot be pulled/);
    }
  });

  test("a program that is not in the image, or may not be executed, is never run", async () => {
    await fails(renter, { args: ["/no/such/program"] }, /no such file or directory/i, ["created"]);
    await fails(renter, { args: ["/etc"] }, /permission denied|is a directory/i, ["created"]);
  });

  test("a program that ends at once leaves it exited, with its code and log, and no second more is billed than it ran", async () => {
    const cases: readonly [object, RegExp][] = [
      [{ args: ["sh", "-c", "echo last words; exit 3"] }, /ended with code 3/],
      [{ onstart: "echo last words" }, /ended with code 0/],
      [{ onstart: "echo last words; exec /no/such/program" }, /ended with code 127/],
    ];
    for (const [body, sentence] of cases) {
      const id = await renter.rent({ runtype: "args", ...body });
      const instance = await renter.untilStatus(id, "exited");
      assert.match(instance.status_msg ?? "", sentence);
      assert.match(await renter.told("logs", String(id)), /last words/);
      const [{ State }] = JSON.parse(await docker("inspect", await machine.containerOf(id)));
      const ranMs = Date.parse(State.FinishedAt) - Date.parse(State.StartedAt);
      // The engine's two times of so short a run may even be in the wrong order.
      if (ranMs > 1) await until("the run to be counted", async () => (await runningMs(id)) > 0);
      await isFair(id, ranMs);
      assert.equal((await renter.show(id)).actual_status, "exited", "nobody starts it again unasked");
      await renter.destroy(id);
      await isFair(id, ranMs);
    }
    await untilUntouched(machine, renter);
  });
});

/** An image with the same files under another id: knowledge of the first image does not apply to it. */
async function anotherImage(image: string): Promise<string> {
  const made = await docker("create", image);
  const id = await docker("commit", "--change", `LABEL made=${randomUUID()}`, made);
  await docker("rm", made);
  return id;
}
