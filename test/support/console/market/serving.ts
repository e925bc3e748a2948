// An endpoint of the seeded market: its traffic of the past hour, and what the autoscaler decided in it.
import type { EndpointGroupId } from "../../../../server/src/base/ids.ts";
import { put, someCode, upload } from "../../serverless/deployments.ts";
import { aFleet, sayStatus, workersOf, type Fleet } from "../../serverless/workers.ts";
import type { TestApp } from "../../app.ts";
import type { TestCaller } from "../../fixtures.ts";
import type { FakeHost } from "../../hosts/fake-host.ts";

const MINUTE_MS = 60_000;
export const STEP_MS = 20_000;
const PERF = 1_100;

export type Serving = { readonly endpoint: EndpointGroupId; readonly deployment: number };

/** Endpoints and a deployment; `step` lets twenty seconds of traffic have come to the busy one. */
export async function serve(app: TestApp, owner: TestCaller, hosts: readonly FakeHost[]) {
  const fleet = await aFleet(app, owner, {
    endpoint: { endpoint_name: "chat-8b", min_load: 600, target_util: 0.8, cold_workers: 1, max_workers: 5 },
    group: {
      launch_args: "--image vllm/vllm-openai:v0.11.0 --disk 60",
      search_params: "gpu_name=RTX_4090 num_gpus=1 reliability>0.5",
    },
  });
  await app.call({
    ...{ method: "POST", url: "/api/v0/endptjobs/", secret: owner.secret },
    body: { endpoint_name: "embeddings", min_load: 0, cold_workers: 0, max_workers: 2 },
  });
  const named = { name: "caption-images", image: "python:3.13" };
  const [older, newer] = [someCode(), someCode()];
  const made = await put(app, owner, older, { ...named, version_label: "2.3.1" });
  await upload(app, made.body, older.bytes);
  const again = await put(app, owner, newer, { ...named, version_label: "2.4.0" });
  await upload(app, again.body, newer.bytes);
  return {
    endpoint: fleet.endpointId,
    deployment: Number(made.body.deployment_id),
    step: (pastMs: number) => oneStep(app, fleet, hosts, pastMs),
  };
}

/** Traffic of some seconds arrives, the autoscaler looks, and hosts and workers follow. */
async function oneStep(app: TestApp, fleet: Fleet, hosts: readonly FakeHost[], pastMs: number): Promise<void> {
  const minute = pastMs / MINUTE_MS;
  const load = 700 + 260 * Math.sin(minute / 7) + (minute > 24 && minute < 41 ? 1_150 : 0);
  const waited = minute > 24 && minute < 27 ? 3 : 0;
  await app.env.pool.query(
    `insert into endpoint_load (endpoint_group_id, second_at, request_count, load, waited_count, wait_ms, wait_ms_max)
     select $1, date_trunc('second', $2::timestamptz) - make_interval(secs => ago), 4, $3 * (0.9 + 0.2 * random()), $4,
       $4 * 2400, case when $4 > 0 then 5200 else 0 end
     from generate_series(1, $5::integer) ago`,
    [fleet.endpointId, app.clock.now(), load, waited, STEP_MS / 1_000],
  );
  for (const host of hosts) await host.obey();
  for (const { instance_id: id, state } of await workersOf(app, fleet)) {
    if (state === "stopped") continue;
    const host = hosts.find((one) => one.order(id)?.run === "running");
    if (host === undefined) continue;
    const use = Math.min(PERF, load / 2);
    await sayStatus(app, host, id, { loadtime: 38.4, max_perf: PERF, cur_perf: use, cur_load: use });
  }
  await app.runLoop("autoscale");
}
