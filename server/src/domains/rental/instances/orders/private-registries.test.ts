import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { askFor, rentAndRun } from "../../../../../../test/support/rentals.ts";
import { askToWait } from "../../../../../../test/support/standing-requests.ts";

const INSIDE = ["127.0.0.1:5000/app", "localhost/app", "[::1]:5000/app", "2130706433:5000/app", "192.168.1.7/app"];
const DOCKER = { engine: { kind: "docker", version: "1" } } as const;

/** A host with a real engine, which allows these registries in its network. */
async function aRealHost(world: TestApp, ...allowed: readonly string[]) {
  const host = await world.host({ facts: { allowed_registries: [...allowed] } });
  await host.disconnect();
  await host.connect(DOCKER);
  await world.settled();
  return host;
}

test("an image in a host's own network is refused by its field, in every place that names it, unless that host allows it", async (t) => {
  const world = await testApp(t);
  const [user, closed] = [await world.caller(), await aRealHost(world)];
  const { secret } = user;
  const running = await rentAndRun(world, user, closed);
  const endpoint = await world.call({
    method: "POST",
    url: "/api/v0/endptjobs/",
    secret,
    body: { endpoint_name: "e", cold_workers: 0, min_load: 0 },
  });
  assert.equal(endpoint.status, 200, endpoint.text);
  const group = (image: string) => ({
    endpoint_name: "e",
    search_params: "gpu_ram>=1",
    launch_args: `--image ${image}`,
  });
  const call = (method: "POST" | "PUT", url: string, body: object) => world.call({ method, url, secret, body });
  const places: Readonly<Record<string, (image: string) => ReturnType<typeof call>>> = {
    rent: (image) => askFor(world, user, closed, { image }),
    request: (image) => askToWait(world, user, { image }),
    update: (image) => call("PUT", `/api/v0/instances/update_template/${running}/`, { image }),
    template: (image) => call("POST", "/api/v0/template/", { name: "t", image }),
    group: (image) => call("POST", "/api/v0/workergroups/", group(image)),
    snapshot: (image) => call("POST", `/api/v0/instances/take_snapshot/${running}/`, { personal_repo: image }),
  };
  for (const [place, ask] of Object.entries(places)) {
    for (const image of INSIDE) {
      const { status, body } = await ask(image);
      const field = place === "snapshot" ? "personal_repo" : "image";
      assert.deepEqual([status, body.error, body.field], [400, "private_registry", field], `${place} ${image}`);
      assert.match(String(body.msg), /is in a private network/);
    }
  }
  const snapshot = await call("POST", `/api/v0/instances/take_snapshot/${running}/`, {
    personal_repo: "me/app",
    container_registry: "127.0.0.1:5000",
  });
  assert.deepEqual([snapshot.status, snapshot.body.field], [400, "container_registry"]);
  const login = { name: "t", image: "ghcr.io/me/app", docker_login_repo: "http://127.0.0.1:5000" };
  assert.equal((await call("POST", "/api/v0/template/", login)).body.field, "docker_login_repo");

  const open = await aRealHost(world, "127.0.0.1:5000");
  assert.equal((await places["template"]?.("127.0.0.1:5000/app"))?.status, 200, "some host allows it");
  assert.equal((await places["template"]?.("127.0.0.1:5001/app"))?.status, 400);
  const elsewhere = await askFor(world, user, closed, { image: "127.0.0.1:5000/app" });
  assert.ok(Number(elsewhere.body.ask_id) > 0);
  assert.match(String(elsewhere.body.msg), new RegExp(`host of machine ${closed.machineId} does not allow it`));
  const there = await rentAndRun(world, user, open, { image: "127.0.0.1:5000/app" });
  assert.equal(open.order(there)?.image, "127.0.0.1:5000/app:latest");
});
