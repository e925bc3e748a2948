import type { DeploymentId, EndpointGroupId, WorkerGroupId } from "../../../base/ids.ts";
import { WORKER_GROUP_VARIABLE } from "../../rental/instances/for-serverless.ts";
import type { LaunchSettings } from "../../rental/templates/index.ts";

const WORKER_PORT = "WORKER_PORT";
const WORKER_PORT_DEFAULT = 3000;
const USE_SSL = "USE_SSL";
/** Variables that tell workers the server's address. */
const SERVER_VARIABLES = ["REPORT_ADDR", "VAST_API_URL"] as const;
/** Loopback host names, as a parsed address has them. */
const LOOPBACK = /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export type WorkerIdentity = {
  readonly endpointId: EndpointGroupId;
  readonly groupId: WorkerGroupId;
  /** The deployment whose code it runs; undefined when it runs its image's own. */
  readonly deploymentId: DeploymentId | undefined;
  /** The server address for its reports and for fetching code; undefined where its host's agent provides it. */
  readonly reportAddress: string | undefined;
};

/**
 * The settings of an instance, completed for a worker: for whom it works, where it reports to, and by which port
 * requests arrive. Its token is added when its host gets the order.
 */
export function workerLaunch(launch: LaunchSettings, identity: WorkerIdentity): LaunchSettings {
  const { reportAddress, deploymentId } = identity;
  const env = deploymentId === undefined ? launch.env : launch.env.filter((variable) => !namesCaller(variable));
  const given = new Map(env);
  const port = readPort(given.get(WORKER_PORT)) ?? WORKER_PORT_DEFAULT;
  const own = new Map([
    ["SERVERLESS", "true"],
    ["ENDPOINT_ID", String(identity.endpointId)],
    [WORKER_GROUP_VARIABLE, String(identity.groupId)],
    [WORKER_PORT, String(port)],
    // The published start script would use TLS by default, with a certificate of its maker's server.
    ...(given.has(USE_SSL) ? [] : ([[USE_SSL, "false"]] as const)),
    ...(deploymentId === undefined
      ? []
      : ([
          ["IS_DEPLOYMENT", "true"],
          ["DEPLOYMENT_ID", String(deploymentId)],
        ] as const)),
    ...SERVER_VARIABLES.flatMap((name) =>
      reportAddress === undefined || given.has(name) ? [] : [[name, reportAddress] as const],
    ),
  ]);
  const isMapped = launch.ports.some((mapped) => mapped.container_port === port && mapped.protocol === "tcp");
  return {
    ...launch,
    env: [...env.filter(([name]) => !own.has(name)), ...own],
    ports: isMapped ? launch.ports : [...launch.ports, { container_port: port, protocol: "tcp" }],
    extra_env: isMapped ? launch.extra_env : [...launch.extra_env, [`-p ${port}:${port}`, "1"]],
  };
}

/**
 * True for a server address that is a loopback. Clients of deployments pass their workers the address by which they
 * reach the server themselves; a loopback is the client's machine, and inside a container it leads nowhere.
 */
function namesCaller([name, value]: readonly [string, string]): boolean {
  if (!SERVER_VARIABLES.some((known) => known === name)) return false;
  return URL.canParse(value) && LOOPBACK.test(new URL(value).hostname);
}

function readPort(text: string | undefined): number | undefined {
  const port = text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}
