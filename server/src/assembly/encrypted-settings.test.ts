import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../test/support/app.ts";
import { deployed, someCode } from "../../../test/support/serverless/deployments.ts";
import type { FakeHost } from "../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../test/support/fixtures.ts";
import { rent, show } from "../../../test/support/rentals.ts";
import { waitFor } from "../../../test/support/standing-requests.ts";
import {
  aFleet,
  anAutoscaler,
  decideNow,
  rentUpTo,
  workersOf,
  type Fleet,
} from "../../../test/support/serverless/workers.ts";
import { asId, type EndpointGroupId, type WorkerGroupId } from "../base/ids.ts";
import { resolveLaunch } from "../domains/rental/templates/index.ts";

const MARKER = "canary7f3a9c2e5b";
const marked = (kind: string) => `${MARKER}-${kind}`;

/** Places that hold the marker in clear text: `table.column`, over all columns of all tables and all types. */
async function placesOf({ env }: TestApp, word: string): Promise<readonly string[]> {
  const { rows: columns } = await env.pool.query<{ table_name: string; column_name: string }>(
    `select table_name, column_name from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' order by 1, 2`,
  );
  const places: string[] = [];
  for (const { table_name: table, column_name: column } of columns) {
    const { rows } = await env.pool.query<{ found: boolean }>(
      `select exists (
         select from "${table}" where position($1 in "${column}"::text) > 0 or position($2 in "${column}"::text) > 0
       ) as found`,
      [word, Buffer.from(word).toString("hex")],
    );
    if (rows[0]?.found === true) places.push(`${table}.${column}`);
  }
  return places;
}

async function made(world: TestApp, user: TestCaller, method: "POST" | "PUT", url: string, body: object) {
  const headers = { "idempotency-key": randomUUID() };
  const answer = await world.call({ method, url, secret: user.secret, body, headers });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const envOf = (host: FakeHost, id: number) => new Map(host.order(id)?.env ?? []);

test("no variable, script or argument of a rental lies in clear, and owner and host still get it", async (t) => {
  const world = await testApp(t);
  const [owner, user] = [await world.caller({ dollars: 0 }), await world.caller()];
  const host = await world.host({ owner, gpus: 8 });
  const secret = `-e TOKEN=${marked("template")}`;
  const content = { name: "sealed", image: "busybox", env: secret, onstart: `echo ${marked("script")}`, private: true };
  const { template } = await made(world, user, "POST", "/api/v0/template/", content);
  assert.deepEqual([template.env, template.onstart], [content.env, content.onstart]);
  const edited = await made(world, user, "PUT", "/api/v0/template/", { hash_id: template.hash_id, desc: "edited" });
  assert.equal(edited.template.env, content.env);

  const plain = await rent(world, user, host, {
    env: { TOKEN: marked("variable"), JUPYTER_TOKEN: marked("notebook") },
    onstart: `login ${marked("onstart")}`,
    image_login: `-u me -p ${marked("login")} docker.io`,
  });
  const templated = await rent(world, user, host, { image: undefined, template_hash_id: template.hash_id });
  const args = ["--key", marked("argument")];
  const argued = await rent(world, user, host, { runtype: "args", args });
  await made(world, user, "PUT", `/api/v0/instances/update_template/${argued}/`, { env: { LATER: marked("later") } });
  await host.obey();
  const record = await show(world, user, plain);
  assert.deepEqual(record.extra_env, [
    ["TOKEN", marked("variable")],
    ["JUPYTER_TOKEN", marked("notebook")],
  ]);
  assert.deepEqual([record.onstart, record.jupyter_token], [`login ${marked("onstart")}`, marked("notebook")]);
  assert.deepEqual((await show(world, user, argued)).image_args, args);
  assert.equal(envOf(host, plain).get("TOKEN"), marked("variable"));
  assert.equal(host.order(plain)?.registry_auth?.password, marked("login"));
  assert.equal(envOf(host, templated).get("TOKEN"), marked("template"));
  assert.equal(envOf(host, argued).get("LATER"), marked("later"));

  await waitFor(world, user, { env: { TOKEN: marked("waiting") }, onstart: marked("waiting"), max_dph: 0.0001 });
  const group = { launch_args: `--image busybox --disk 10 --env '-e TOKEN=${marked("worker")}'` };
  const fleet = await aFleet(world, user, { group });
  const groups = await world.call({ url: "/api/v0/workergroups/", secret: user.secret });
  assert.equal(groups.body.results[0].launch_args, group.launch_args);
  const autoscaler = anAutoscaler(world, { secret: Buffer.alloc(32), decide: rentUpTo(1) });
  const hired = async (group: Fleet, kind: string) => {
    await world.settled();
    await decideNow(autoscaler, group);
    await host.synced();
    const [worker] = await workersOf(world, group);
    assert.ok(worker);
    assert.equal(envOf(host, worker.instance_id).get("TOKEN"), marked(kind));
  };
  await hired(fleet, "worker");
  const code = await deployed(world, user, someCode(), { env: `-e TOKEN=${marked("deployment")}` });
  const shown = await world.call({ url: `/api/v0/deployment/${code.id}/`, secret: user.secret });
  assert.equal(shown.body.deployment.env, `-e TOKEN=${marked("deployment")}`);
  const versions = await world.call({ url: `/api/v0/deployment/${code.id}/versions/`, secret: user.secret });
  assert.equal(versions.body.versions[0].env, `-e TOKEN=${marked("deployment")}`);
  await hired(
    { endpointId: asId<EndpointGroupId>(code.endpointId), groupId: asId<WorkerGroupId>(code.groupId) },
    "deployment",
  );
  const idle = await world.host({ owner, gpus: 1 });
  const job = { machine: idle.machineId, image: "busybox", args: [marked("job")], price_gpu: 0.1 };
  await made(world, owner, "PUT", "/api/v0/machines/create_bids/", job);
  await idle.obey();
  const [background] = idle.desired?.instances ?? [];
  assert.deepEqual(background?.command, { mode: "entrypoint", entrypoint_shell: null, args: job.args });

  assert.deepEqual(await placesOf(world, MARKER), []);
  // The scan finds clear texts.
  await made(world, user, "POST", "/api/v0/template/", { ...content, private: false });
  assert.deepEqual(await placesOf(world, MARKER), ["template_versions.content", "templates.content"]);
});

test("secrets stored in clear text go on working, and several servers encrypt them only once", async (t) => {
  const world = await testApp(t);
  const { pool } = world.env;
  const [owner, user] = [await world.caller({ dollars: 0 }), await world.caller()];
  const host = await world.host({ owner, gpus: 2 });
  const content = { name: "earlier", image: "busybox", env: `-e TOKEN=${marked("template")}`, private: true };
  const { template } = await made(world, user, "POST", "/api/v0/template/", content);
  const order = { image: "busybox", env: { TOKEN: marked("variable") }, onstart: marked("script") };
  const id = await rent(world, user, host, order);
  const waiting = await waitFor(world, user, { max_dph: 0.0001 });
  const group = { launch_args: `--image busybox --disk 10 --env '-e TOKEN=${marked("worker")}'` };
  const fleet = await aFleet(world, user, { group });
  await deployed(world, user, someCode(), { env: `-e TOKEN=${marked("deployment")}` });
  const before = await records(world, user, { id, hash: template.hash_id });

  // The row as an earlier version wrote it.
  const clear = JSON.stringify(resolveLaunch(undefined, order));
  await pool.query("update instances set launch = $2 where id = $1", [id, clear]);
  await pool.query("update standing_requests set launch = $2 where id = $1", [waiting, clear]);
  const { env, onstart, args_str } = template;
  for (const table of ["templates", "template_versions"]) {
    await pool.query(`update ${table} set content = content - 'sealed' || $1`, [{ env, onstart, args_str }]);
  }
  await pool.query("update worker_groups set launch_args = $1 where id = $2", [group.launch_args, fleet.groupId]);
  await pool.query("update deployment_versions set env = $1", [`-e TOKEN=${marked("deployment")}`]);
  await pool.query(
    `insert into default_jobs (machine_id, image, args, price_device_nanos_per_hour, price_inet_up_nanos_per_gb,
       price_inet_down_nanos_per_gb, created_at) values ($1, 'busybox', $2, 1, 0, 0, now())`,
    [host.machineId, JSON.stringify([marked("job")])],
  );
  const inClear = ["default_jobs.args", "deployment_versions.env", "instances.launch", "standing_requests.launch"];
  assert.deepEqual(await placesOf(world, MARKER), [
    ...inClear,
    ...["template_versions.content", "templates.content", "worker_groups.launch_args"],
  ]);
  assert.deepEqual(await records(world, user, { id, hash: template.hash_id }), before);

  await Promise.all([world.runLoop("seal-earlier-settings"), world.runLoop("seal-earlier-settings")]);
  assert.deepEqual(await world.runLoop("seal-earlier-settings"), {
    ...{ instances: 0, templates: 0, standing_requests: 0, worker_groups: 0, deployments: 0, default_jobs: 0 },
  });
  assert.deepEqual(await placesOf(world, MARKER), []);
  assert.deepEqual(await records(world, user, { id, hash: template.hash_id }), before);
  const { rows } = await pool.query("select hash_id from templates");
  assert.deepEqual(rows, [{ hash_id: template.hash_id }]);
  await host.obey();
  assert.equal(envOf(host, id).get("TOKEN"), marked("variable"));
});

/** The owner's view of the settings that are encrypted. */
async function records(world: TestApp, user: TestCaller, { id, hash }: { readonly id: number; readonly hash: string }) {
  const { extra_env, onstart, image_args } = await show(world, user, id);
  const get = async (url: string) => (await world.call({ url, secret: user.secret })).body;
  const { templates } = await get(`/api/v0/template/?select_filters={"hash_id":{"eq":"${hash}"}}`);
  const { results } = await get("/api/v0/workergroups/");
  const { deployments } = await get("/api/v0/deployments/");
  const { machines } = await get("/api/v0/machines/");
  return { instance: { extra_env, onstart, image_args }, templates, results, deployments, machines };
}
