import { createDockerEngine } from "../../../agent/src/docker/engine.ts";
import { systemClock } from "../../../agent/src/base/clock.ts";
import { LABEL_HOST } from "../../../agent/src/instances/identity.ts";
import { createNetwork } from "../../../agent/src/network/network.ts";
import { programRunner } from "../../../agent/src/base/programs.ts";
import { DOCKER_SOCKET, removeLabelled } from "./docker.ts";
import { unmountBelow } from "./mounts.ts";

/**
 * Removes the remains of an agent that a test has killed: containers, mounts below its state folder, network, rules.
 */
export async function removeRemains(hostKey: string, stateDir: string): Promise<void> {
  await removeLabelled(LABEL_HOST, hostKey);
  await unmountBelow(stateDir);
  const network = createNetwork({
    engine: createDockerEngine({ socketPath: DOCKER_SOCKET, clock: systemClock }),
    run: programRunner(systemClock),
    hostKey,
    portRange: { first: 1, last: 1 },
    readResolvConf: () => "",
  });
  await network.remove();
}
