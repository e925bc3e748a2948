import type { OperationWords } from "../operation-words.ts";

/** Endpoints, worker groups, workers and deployments. */
export const SERVERLESS_OPERATIONS: OperationWords = {
  "api.endpoint.list": { description: "Returns the caller's endpoints with their parameters." },
  "api.endpoint.show": { description: "Returns one endpoint. 404 `no_such_endpoint`." },
  "api.endpoint.create": {
    description:
      "Creates an endpoint, to which requests are routed once it has a worker group. 400 `invalid_args` naming the parameter, 400 `too_many_endpoints`.",
    request: {
      endpoint_name: "llama",
      min_load: 10,
      target_util: 0.9,
      cold_mult: 2.5,
      cold_workers: 5,
      max_workers: 20,
    },
  },
  "api.endpoint.update": {
    description:
      "Changes the named parameters of an endpoint and keeps all others. 400 `invalid_args` naming the parameter, also for an endpoint that is not the caller's.",
    request: { endpoint_state: "stopped" },
  },
  "api.endpoint.delete": {
    description:
      "Deletes an endpoint with its worker groups and workers. 400 `invalid_args` for an endpoint that is not the caller's.",
  },
  "api.endpoint.history": {
    description:
      "Returns load, capacity, workers by state, waiting and cost of an endpoint over time as parallel lists, and the decisions of the autoscaler with their sentences. The span is the last hour by default, in 120 steps; workers go back seven days. 404 `no_such_endpoint`, 400 `invalid_args` for a span that cannot be read or has more than 2,000 steps.",
  },
  "api.endpoint.events": {
    description: "Returns the events of an endpoint with their reasons, the newest first. 404 `no_such_endpoint`.",
  },
  "api.endpoint.simulate": {
    description:
      "Compares other parameters with the present ones on the endpoint's own past or on a trace; costs are in dollars. 404 `no_such_endpoint`, 400 `no_measured_worker` or `simulation_too_long`, 429 while others run.",
    request: { min_load: 5, cold_workers: 2 },
  },
  "api.endpoint.logs": {
    description: "Returns the log of an endpoint as text, in four levels of detail. 404 `no_such_endpoint`.",
    request: { id: 15, tail: 100 },
  },
  "api.endpoint.workers": { description: "Returns the workers of an endpoint as a bare list. 404 `no_such_endpoint`." },
  "api.endpoint.metrics": {
    description:
      "Returns requests, load and waiting times by period, as series by metric and as rows by endpoint. Traffic is kept for seven days. 404 `no_such_endpoint`, 400 `invalid_args` for a span of more than 10,000 periods.",
    request: { endpoint_id: 15, step: 60 },
  },
  "api.endpoint.spend": {
    description:
      "Returns what each endpoint cost in a span, and what it costs an hour now, in dollars. 400 `invalid_args` for a span that cannot be read.",
  },
  "api.workergroup.list": { description: "Returns the caller's worker groups." },
  "api.workergroup.create": {
    description:
      "Creates a worker group, whose workers are rented as the endpoint's load asks for. An unknown `endpoint_name` creates the endpoint, too, if the key may do that, with the sent settings that endpoints have as well. 400 `invalid_args` without a valid endpoint or template.",
    request: {
      endpoint_name: "llama",
      template_hash: "4e17788f74f075dd9aab7d0d4427968f",
      search_params: "gpu_name=RTX_4090 num_gpus=1",
    },
  },
  "api.workergroup.update": {
    description:
      "Changes the named settings of a worker group and keeps all others. 400 `invalid_args` naming the setting, also for a worker group that is not the caller's.",
    request: { max_workers: 10 },
  },
  "api.workergroup.delete": { description: "Deletes a worker group with its workers. 404 `no_such_workergroup`." },
  "api.workergroup.logs": {
    description: "Returns the log of a worker group as text, in four levels of detail. 404 `no_such_workergroup`.",
  },
  "api.workergroup.workers": {
    description:
      "Returns the workers of a worker group; under the older path as a bare list. 404 `no_such_workergroup`.",
  },
  "api.workergroup.spend": {
    description:
      "Returns what each worker group cost in a span, and what it costs an hour now, in dollars. 400 `invalid_args` for a span that cannot be read.",
  },
  "api.workergroup.update_workers": {
    description:
      "Updates the workers of a group one by one to its present recipe, or calls that off. 404 `no_such_workergroup`.",
    request: { workergroup_id: 22 },
  },
  "api.route.request": {
    description:
      "Returns the address of a worker for a request of `cost` units; without `url` the request waits, so ask again with its `request_idx`. 401 `auth_error` for a wrong key, 403 `not_authorized` for a key of the account without the permission, 400 `endpoint_stopped`, 503 `too_many_waiting`.",
    request: { endpoint: "llama", cost: 100 },
  },
  "api.worker.report": {
    description:
      "Takes a worker's report of its load and performance; workers call it with their `MASTER_TOKEN`. 401 for a wrong token, 503 `address_unknown` until the host has told the worker's ports.",
    request: {
      id: 77,
      mtoken: "m_example",
      url: "https://203.0.113.7:40122",
      loadtime: 42.5,
      max_perf: 120,
      cur_perf: 80,
      new_load: 100,
    },
  },
  "api.worker.finish": {
    description:
      "Takes a worker's report that requests are done; workers call it with their `MASTER_TOKEN`. 401 for a wrong token.",
    request: { worker_id: 77, mtoken: "m_example", requests: [{ request_idx: 9, success: true }] },
  },
  "api.deployment.list": { description: "Returns the caller's deployments." },
  "api.deployment.show": { description: "Returns one deployment. 404 `no_such_deployment`." },
  "api.deployment.versions": {
    description: "Returns the versions of a deployment, the newest first. 404 `no_such_deployment`.",
  },
  "api.deployment.deploy": {
    description:
      "Creates the deployment of this name and tag, or brings it to these settings; `upload_url` is where the code goes when it is not known yet. 400 `invalid_args` naming the field, 400 `too_many`.",
    request: {
      name: "chat",
      image: "python:3.13",
      file_hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      file_size: 20_480,
    },
  },
  "api.deployment.delete": {
    description: "Deletes a deployment with its endpoint and workers. 404 `no_such_deployment`.",
  },
  "api.deployment.delete_named": {
    description: "Deletes the deployments of a name, of one tag or of all, with their endpoints and workers.",
    request: { name: "chat", tag: "default" },
  },
  "api.deployment.start": { description: "Sets the deployment's endpoint to `active`. 404 `no_such_deployment`." },
  "api.deployment.stop": {
    description: "Sets the deployment's endpoint to `stopped`; its workers stop. 404 `no_such_deployment`.",
  },
  "api.deployment.heartbeat": {
    description:
      "Tells the server that the client of a deployment is there, so that the deployment is not deleted after `ttl` seconds. 404 `no_such_deployment`.",
  },
  "api.deployment.download": {
    description:
      "Returns an address that serves the code for ten minutes; workers call it with their instance key. 404 `no_such_deployment` or `no_such_file`.",
  },
};
