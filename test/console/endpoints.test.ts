import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { asId, type EndpointGroupId } from "../../server/src/base/ids.ts";
import { assertAccessible } from "../support/console/accessible.ts";
import { consoleWorld, signedInPage } from "../support/console/console-world.ts";
import type { TestCaller } from "../support/fixtures.ts";
import type { TestApp } from "../support/app.ts";
import { put, someCode, upload } from "../support/serverless/deployments.ts";
import { aFleet, anAutoscaler, bringUp, decideNow, rentUpTo, workersOf } from "../support/serverless/workers.ts";

const HOSTILE = `<img src=x onerror="document.title='owned'"> \u202Echat`;
const secret = randomBytes(32);

/** An endpoint with a ready worker, decisions, and ten minutes of traffic of which some waited. */
async function aBusyEndpoint(app: TestApp, owner: TestCaller): Promise<EndpointGroupId> {
  const host = await app.host({ gpus: 1 });
  const fleet = await aFleet(app, owner, {
    endpoint: { endpoint_name: HOSTILE, cold_workers: 1, max_workers: 4, min_load: 100 },
  });
  const autoscaler = anAutoscaler(app, { secret, decide: rentUpTo(1) });
  await decideNow(autoscaler, fleet);
  await host.synced();
  app.clock.advance(2_000);
  await bringUp(
    app,
    host,
    (await workersOf(app, fleet)).map(({ instance_id: id }) => id),
  );
  await decideNow(autoscaler, fleet);
  await app.env.pool.query(
    `insert into endpoint_load (endpoint_group_id, second_at, request_count, load, waited_count, wait_ms, wait_ms_max)
     select $1, date_trunc('second', $2::timestamptz) - make_interval(secs => ago), 1, 50, 1, 2000, 2000
     from generate_series(60, 660) ago`,
    [fleet.endpointId, app.clock.now()],
  );
  return fleet.endpointId;
}

test("a person serves requests with an endpoint", async (t) => {
  const world = await consoleWorld(t, { secret });
  const { app } = world;
  const owner = await app.caller({ dollars: 100 });
  const id = await aBusyEndpoint(app, owner);

  await t.test("an endpoint is made with parameters, and has no workers yet", async (t) => {
    const page = await signedInPage(t, world, { caller: owner, path: "/endpoints" });
    await page.getByRole("button", { name: "Create an endpoint" }).click();
    const panel = page.getByRole("dialog", { name: "Create an endpoint" });
    await panel.getByLabel("Name").fill("llama");
    await panel.getByLabel("Workers at most").fill("3");
    await assertAccessible(page);
    await panel.getByRole("button", { name: "Create endpoint" }).click();
    await page.getByRole("heading", { level: 1, name: /llama/ }).waitFor();
    await page.getByText("No worker groups yet").waitFor();
    const made = asId<EndpointGroupId>(Number(new URL(page.url()).pathname.split("/")[2]));
    const shown = await app.call({ url: `/api/v0/endptjobs/${made}/`, secret: owner.secret });
    assert.deepEqual([shown.body.result.endpoint_name, shown.body.result.max_workers], ["llama", 3]);
    await page.getByRole("button", { name: "Add a worker group" }).click();
    await page.getByLabel("Launch arguments").fill("--image busybox --disk 10");
    await page.getByLabel("Offers").fill("num_gpus=8");
    await page.getByRole("button", { name: "Add worker group" }).click();
    await page.getByRole("rowheader").first().waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog").getByText("It has no workers now.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Endpoints" }).waitFor();
    assert.equal((await app.call({ url: `/api/v0/endptjobs/${made}/`, secret: owner.secret })).status, 404);
  });

  await t.test("the list and the picture show load, workers and decisions, and hostile names as text", async (t) => {
    const page = await signedInPage(t, world, { caller: owner, path: "/endpoints" });
    const row = page.getByRole("row").filter({ hasText: "<img src=x" });
    await row.getByText("1 ready").waitFor();
    await row.getByRole("img", { name: /Load of/ }).waitFor();
    await assertAccessible(page);
    await row.getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: /U\+202E/ }).waitFor();
    await page.getByText("Load and capacity", { exact: true }).waitFor();
    await page
      .getByRole("button", { name: /A test says so\./ })
      .first()
      .click();
    await page.getByRole("figure").first().getByText("A test says so.").first().waitFor();
    const workers = page.getByRole("table", { name: "Workers", exact: true });
    await workers.getByText("ready").waitFor();
    await workers.getByText("100 units/s").first().waitFor();
    await page.getByRole("heading", { name: "What happened, and why" }).waitFor();
    await assertAccessible(page);
    await workers.getByRole("button", { name: /Story of worker/ }).click();
    await page
      .getByRole("dialog")
      .getByText(/is ready 2 seconds after/)
      .waitFor();
    assert.match(await page.title(), /^Endpoint 1 <img/, "the name of the endpoint ran nothing");
  });

  await t.test("other parameters are tried on its past, and saved", async (t) => {
    const page = await signedInPage(t, world, { caller: owner, path: `/endpoints/${id}/settings` });
    await page.getByLabel("Load to be ready for, units/s").fill("0");
    await page.getByRole("radiogroup", { name: "Replayed time" }).getByText("1 h").click();
    await page.getByRole("button", { name: "Replay the past" }).click();
    const outcome = page.getByRole("table", { name: "What if" });
    await outcome.getByRole("row", { name: /^Requests/ }).waitFor();
    await page.getByText(/The proposed parameters would have cost/).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Save 1 change" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).waitFor();
    const { body } = await app.call({ url: `/api/v0/endptjobs/${id}/`, secret: owner.secret });
    assert.equal(body.result.min_load, 0);
  });

  await t.test("a draft survives what somebody else saves meanwhile, and shows the difference", async (t) => {
    const page = await signedInPage(t, world, { caller: owner, path: `/endpoints/${id}/settings` });
    await page.getByLabel("Workers at most").fill("7");
    const url = `/api/v0/endptjobs/${id}/`;
    const others = { max_workers: 9, cold_mult: 4 };
    assert.equal((await app.call({ method: "PUT", url, secret: owner.secret, body: others })).status, 200);
    const table = page.getByRole("table", { name: "Changed meanwhile" });
    await table
      .getByRole("row", { name: /^Workers at most/ })
      .getByRole("cell", { name: "7" })
      .waitFor();
    await table.getByText("4, taken over").waitFor();
    assert.equal(await page.getByLabel("Workers at most").inputValue(), "7");
    await assertAccessible(page);
    await page.getByRole("button", { name: "Save 1 change" }).click();
    await table.waitFor({ state: "detached" });
    const { body } = await app.call({ url, secret: owner.secret });
    assert.deepEqual([body.result.max_workers, body.result.cold_mult], [7, 4]);
  });

  await t.test("the router says where a request goes, and why", async (t) => {
    const page = await signedInPage(t, world, { caller: owner, path: `/endpoints/${id}/request` });
    await page.getByLabel("Cost of the request, units").fill("50");
    await page.getByRole("button", { name: "Ask the router" }).click();
    await page.getByText(/It goes to worker \d+, which serves 100 units\/s/).waitFor();
    await assertAccessible(page);
  });

  await t.test("a deployment shows its versions, is stopped and deleted", async (t) => {
    const code = someCode();
    const made = await put(app, owner, code, { name: "square" });
    assert.equal((await upload(app, made.body, code.bytes)).status, 200);
    const page = await signedInPage(t, world, { caller: owner, path: "/deployments" });
    await page.getByRole("link", { name: /square/ }).click();
    await page.getByRole("table", { name: "Versions" }).getByText("runs now").waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Its workers are stopped").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No deployments yet").waitFor();
  });

  await t.test("everything fits a phone", async (t) => {
    const page = await signedInPage(t, world, { caller: owner, path: `/endpoints/${id}`, isPhone: true });
    await page.getByText("Load and capacity", { exact: true }).waitFor();
    for (const path of [`/endpoints/${id}`, "/endpoints", `/endpoints/${id}/settings`, `/endpoints/${id}/request`]) {
      await page.goto(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const excess = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      assert.ok(excess <= 0, `${path} is ${excess} px too wide`);
    }
  });
});
