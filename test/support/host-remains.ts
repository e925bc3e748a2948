import { createDockerEngine } from "../../agent/src/docker/engine.ts";
import { systemClock } from "../../agent/src/base/clock.ts";
import { LABEL_HOST } from "../../agent/src/instances/identity.ts";
import { createNetwork } from "../../agent/src/network/network.ts";
import { programRunner } from "../../agent/src/base/programs.ts";
import { DOCKER_SOCKET, removeLabelled } from "./docker.ts";
import { unmountBelow } from "./mounts.ts";

/** Removes what an agent that a test has killed could not: containers, mounts below its state folder, network, rules. */
export async function removeRemains(host_key: string, state_dir: string): Promise<void> {
  await removeLabelled(LABEL_HOST, host_key);
  await unmountBelow(state_dir);
  const network = createNetwork({
    engine: createDockerEngine({ socket_path: DOCKER_SOCKET, clock: systemClock }),
    run: programRunner(systemClock),
    host_key,
    port_range: { first: 1, last: 1 },
    readResolvConf: () => "",
  });
  await network.remove();
}
