import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../test/manual-clock.ts";
import { order } from "../../test/fixtures.ts";
import { fail, succeed, type Engine, type ImageFacts } from "../engine/engine.ts";
import { provideImage, type ImageContext } from "./images.ts";
import { isListed } from "./local-images.ts";
import { noRegistries, registryGate } from "./registries.ts";
import { takeSnapshot } from "../tasks/snapshot.ts";

const BUILT: ImageFacts = { id: "sha256:built", repositories: [], volumes: [], exposedPorts: [] };
const PULLED: ImageFacts = { ...BUILT, id: "sha256:pulled", repositories: ["app"] };

/** A host with one image and a registry that gives out another one, or nothing. */
function aHost(image: ImageFacts | undefined, more: Partial<ImageContext> = {}, inRegistry?: ImageFacts) {
  const pulls: string[] = [];
  let present = image;
  const engine = {
    findImage: async () => succeed(present),
    pull: async (request: { readonly image: string }) => {
      pulls.push(request.image);
      if (inRegistry === undefined) return fail("not_found", "manifest unknown");
      present = inRegistry;
      return succeed(undefined);
    },
  } as unknown as Engine;
  const context: ImageContext = {
    clock: new ManualClock(),
    engine,
    guardedImages: new Set(),
    imageCache: { note: () => undefined, has: () => false },
    localImages: [],
    refuseRegistry: noRegistries,
    isDiskLow: async () => false,
    ...more,
  };
  const provide = (name: string) =>
    provideImage(context, order(1, { image: name }), () => undefined, new AbortController().signal);
  return { pulls, provide };
}

test("an image that the host's owner built there is given to no renter, and keeps its name", async () => {
  for (const name of ["app", "app:latest", "docker.io/library/app:latest", "sha256:built", "4bcff63911fc"]) {
    const host = aHost(BUILT, {}, PULLED);
    const given = await host.provide(name);
    assert.ok(!given.ok && /image of this host's owner/.test(given.failure.message), name);
    assert.equal(given.failure.fault, "image");
    assert.deepEqual(host.pulls, [], "a pull would take the name from the owner's image");
  }
  const renamed = aHost({ ...BUILT, repositories: ["ubuntu"] });
  assert.equal((await renamed.provide("app")).ok, false, "an image of a registry under a name of the owner's");
});

test("an image that the host lists is given to renters without a registry", async () => {
  for (const listed of ["app", "app:latest", "a*", "*"]) {
    const host = aHost(BUILT, { localImages: [listed] });
    assert.deepEqual(await host.provide("app"), succeed(BUILT), listed);
    assert.deepEqual(host.pulls, []);
  }
  assert.equal(isListed("app:2", ["app"]), false);
  assert.equal(isListed("docker.io/library/app", ["app:latest"]), true);
});

test("an image that the owner pulled, perhaps with a login, is a renter's only when its registry gives it to the renter", async () => {
  const closed = aHost(PULLED);
  assert.equal((await closed.provide("app")).ok, false);
  assert.deepEqual(closed.pulls, ["app"]);
  assert.deepEqual(await aHost(PULLED, {}, PULLED).provide("app"), succeed(PULLED));
  const known = aHost(PULLED, { imageCache: { note: () => undefined, has: () => true } });
  assert.deepEqual(await known.provide("app"), succeed(PULLED));
  assert.deepEqual(known.pulls, [], "what was pulled for a renter without a login is everybody's");
});

test("no image is pulled from, or pushed into, a network that the host does not open to renters", async () => {
  const refuseRegistry = registryGate({ allowed: [], resolve: async () => ["10.0.0.1"] });
  for (const name of ["127.0.0.1:5000/app", "registry.example/app"]) {
    const host = aHost(undefined, { refuseRegistry }, PULLED);
    const given = await host.provide(name);
    assert.ok(!given.ok && /private network/.test(given.failure.message), name);
    assert.deepEqual(host.pulls, []);
    const slash = name.lastIndexOf("/");
    const action = { instanceId: 1, repository: name, tag: "1", registryAuth: null, isPaused: true };
    const pushed = await takeSnapshot(
      { clock: new ManualClock(), engine: {} as Engine, guardImage: () => undefined, refuseRegistry },
      { type: "snapshot", ...action },
      { containerId: "c", taskId: "t", signal: new AbortController().signal, show: () => undefined },
    );
    assert.ok(!pushed.ok && /cannot be pushed/.test(pushed.failure.message), name.slice(slash));
  }
});
