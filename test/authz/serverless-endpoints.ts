// The rows of endpoint groups and their worker groups.
import { createHash, randomUUID } from "node:crypto";
import { asId, type EndpointGroupId, type WorkerGroupId } from "../../server/src/base/ids.ts";
import { insertHires } from "../../server/src/domains/serverless/workers/store.ts";
import { inTransaction, type TestCaller } from "../support/fixtures.ts";
import { aMachine, anInstanceRow } from "../support/hosts/machines.ts";
import { aDeployment, anUpload, deploymentBody } from "./deployments.ts";
import { ABSENT, alsoNeeding, at, onObject, plain, type Row } from "./row.ts";
import type { Target, World } from "./world.ts";

export const anEndpoint = async (world: World, user: TestCaller) =>
  Number((await world.done("POST", at("/api/v0/endptjobs/", { endpoint_name: randomUUID() }), user))["result"]);

const aGroupFor = (path: string) => (endpointId: number | string) =>
  at(path, { endpoint_id: endpointId, launch_args: "--image alpine" });

async function aWorkerGroup(world: World, user: TestCaller): Promise<number> {
  const endpoint = await anEndpoint(world, user);
  return Number((await world.done("POST", aGroupFor("/api/v0/workergroups/")(endpoint), user))["id"]);
}

/** A request to an endpoint without workers, which is answered so after five seconds. */
const askForWorker: Row = {
  needs: "public",
  call: async (world) => {
    const id = await anEndpoint(world, world.owner);
    const { result } = await world.done("GET", at(`/api/v0/endptjobs/${id}/`), world.owner);
    const { endpoint_name: endpoint, api_key: key } = result as Readonly<Record<string, string>>;
    return at("/route/", { endpoint, api_key: key, cost: 1 });
  },
};

/** A worker shows its own token, in the body. */
function asWorker(aim: (worker: { readonly id: number; readonly token: string }) => Target): Row {
  return {
    needs: "public",
    call: async (world) => {
      const endpointGroupId = asId<EndpointGroupId>(await anEndpoint(world, world.owner));
      const { id: made } = await world.done("POST", aGroupFor("/api/v0/workergroups/")(endpointGroupId), world.owner);
      const token = randomUUID();
      const id = await inTransaction(world.database, async (tx) => {
        const machineId = await aMachine(tx, world.stranger.id);
        const instanceId = await anInstanceRow(tx, world.owner.id, machineId);
        const workerGroupId = asId<WorkerGroupId>(Number(made));
        const tokenSha256 = createHash("sha256").update(token).digest();
        await insertHires(tx, [{ instanceId, endpointGroupId, workerGroupId, machineId, generation: 1, tokenSha256 }]);
        return instanceId;
      });
      return aim({ id, token });
    },
  };
}

const onDeployment = (needs: "instance_read" | "instance_write", path: string): Row =>
  onObject(needs, "id", aDeployment, (id) => at(`/api/v0/deployment/${id}/${path}`));

const A_WORKER = { perf: 100, price_per_hour: 1, storage_per_hour: 0.01, first_start_s: 60 };

/** A row that rents machines or ends rentals, which needs a second permission. */
const renting = (row: Row): Row => alsoNeeding("instance_write", row);

export const serverlessEndpoints = {
  "POST /worker_status/": asWorker(({ id, token }) => at("/worker_status/", { id, mtoken: token, version: "1" })),
  "POST /delete_requests/": asWorker(({ id, token }) =>
    at("/delete_requests/", { worker_id: id, mtoken: token, requests: [] }),
  ),
  "POST /route/": askForWorker,
  "POST /api/v0/endptjobs/": renting(plain("misc", "/api/v0/endptjobs/", {})),
  "GET /api/v0/endptjobs/": plain("misc", "/api/v0/endptjobs/"),
  "PUT /api/v0/endptjobs/{id}/": renting(
    onObject("misc", "id", anEndpoint, (id) => at(`/api/v0/endptjobs/${id}/`, { max_workers: 7 })),
  ),
  "DELETE /api/v0/endptjobs/{id}/": renting(onObject("misc", "id", anEndpoint, (id) => at(`/api/v0/endptjobs/${id}/`))),
  "GET /api/v0/endptjobs/{id}/": onObject("misc", "id", anEndpoint, (id) => at(`/api/v0/endptjobs/${id}/`)),
  "GET /api/v0/workergroups/": plain("misc", "/api/v0/workergroups/"),
  "GET /api/v0/autojobs/": plain("misc", "/api/v0/autojobs/"),
  "POST /api/v0/workergroups/": renting(
    onObject("misc", "endpoint_id", anEndpoint, aGroupFor("/api/v0/workergroups/"), ABSENT),
  ),
  "POST /api/v0/autojobs/": renting(
    onObject("misc", "endpoint_id", anEndpoint, aGroupFor("/api/v0/autojobs/"), ABSENT),
  ),
  "PUT /api/v0/workergroups/{id}/": renting(
    onObject("misc", "id", aWorkerGroup, (id) => at(`/api/v0/workergroups/${id}/`, { max_workers: 7 })),
  ),
  "PUT /api/v0/autojobs/{id}/": renting(
    onObject("misc", "id", aWorkerGroup, (id) => at(`/api/v0/autojobs/${id}/`, { max_workers: 7 })),
  ),
  "DELETE /api/v0/workergroups/{id}/": renting(
    onObject("misc", "id", aWorkerGroup, (id) => at(`/api/v0/workergroups/${id}/`)),
  ),
  "DELETE /api/v0/autojobs/{id}/": renting(onObject("misc", "id", aWorkerGroup, (id) => at(`/api/v0/autojobs/${id}/`))),
  "GET /api/v0/endptjobs/{id}/events/": onObject("misc", "id", anEndpoint, (id) =>
    at(`/api/v0/endptjobs/${id}/events/`),
  ),
  "GET /api/v0/endptjobs/{id}/history/": onObject("misc", "id", anEndpoint, (id) =>
    at(`/api/v0/endptjobs/${id}/history/`),
  ),
  "POST /api/v0/endptjobs/{id}/simulate/": onObject("misc", "id", anEndpoint, (id) =>
    at(`/api/v0/endptjobs/${id}/simulate/`, { trace: [[0, 1]], worker: A_WORKER }),
  ),
  "GET /api/v0/serverless/endpoints/spend/": plain("user_read", "/api/v0/serverless/endpoints/spend/"),
  "GET /api/v0/serverless/workergroups/spend/": plain("user_read", "/api/v0/serverless/workergroups/spend/"),
  "POST /api/v0/serverless/metrics/": onObject("misc", "endpoint_id", anEndpoint, (id) =>
    at("/api/v0/serverless/metrics/", { endpoint_id: id }),
  ),
  "POST /get_endpoint_workers/": onObject("misc", "id", anEndpoint, (id) => at("/get_endpoint_workers/", { id })),
  "POST /get_workergroup_workers/": onObject("misc", "id", aWorkerGroup, (id) =>
    at("/get_workergroup_workers/", { id }),
  ),
  "POST /get_autogroup_workers/": onObject("misc", "id", aWorkerGroup, (id) => at("/get_autogroup_workers/", { id })),
  "POST /get_endpoint_logs/": onObject("misc", "id", anEndpoint, (id) => at("/get_endpoint_logs/", { id })),
  "POST /get_workergroup_logs/": onObject("misc", "id", aWorkerGroup, (id) => at("/get_workergroup_logs/", { id })),
  "POST /get_autogroup_logs/": onObject("misc", "id", aWorkerGroup, (id) => at("/get_autogroup_logs/", { id })),
  "POST /update_workers/": renting(
    onObject("misc", "workergroup_id", aWorkerGroup, (id) => at("/update_workers/", { workergroup_id: id })),
  ),
  "GET /api/v0/deployments/": plain("instance_read", "/api/v0/deployments/"),
  "PUT /api/v0/deployments/": {
    needs: "instance_write",
    call: () => at("/api/v0/deployments/", deploymentBody()),
  },
  "DELETE /api/v0/deployments/": plain("instance_write", "/api/v0/deployments/", { name: "none" }),
  "GET /api/v0/deployment/{id}/": onDeployment("instance_read", ""),
  "DELETE /api/v0/deployment/{id}/": onDeployment("instance_write", ""),
  "GET /api/v0/deployment/{id}/versions/": onDeployment("instance_read", "versions/"),
  "POST /api/v0/deployment/{id}/start/": onDeployment("instance_write", "start/"),
  "POST /api/v0/deployment/{id}/stop/": onDeployment("instance_write", "stop/"),
  "POST /api/v0/deployment/{id}/heartbeat/": onDeployment("instance_write", "heartbeat/"),
  // Beside it the key of an instance opens the deployment that the instance works for: deployments.test.ts.
  "GET /api/v0/deployment/{id}/download_url/": onDeployment("instance_read", "download_url/"),
} satisfies Readonly<Record<string, Row>>;

/** Operations whose address is the credential: a caller who has it needs no key. */
export const hiddenServerlessEndpoints = {
  "GET /api/v0/deployment/{id}/files/{token}/": {
    needs: "public",
    call: async (world) => {
      const id = await aDeployment(world, world.owner);
      const { download_url: url } = await world.done("GET", at(`/api/v0/deployment/${id}/download_url/`), world.owner);
      return at(new URL(String(url)).pathname);
    },
  },
  "POST /api/v0/deployment/{id}/files/{token}/": {
    needs: "public",
    call: (world) => anUpload(world, world.owner),
  },
} satisfies Readonly<Record<string, Row>>;
