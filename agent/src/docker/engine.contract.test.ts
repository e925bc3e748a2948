import { busyboxImage, DOCKER_SOCKET, removeLabelled } from "../../../test/support/hosts/docker.ts";
import { systemClock } from "../base/clock.ts";
import { CONTRACT_LABEL, testEngineContract } from "../engine/engine.contract.ts";
import { createDockerEngine } from "./engine.ts";

const LABEL = "docker";

testEngineContract("Docker Engine", LABEL, async () => {
  const image = await busyboxImage();
  const removeAll = async () => {
    for (const value of [LABEL, `${LABEL}-list`]) await removeLabelled(CONTRACT_LABEL, value);
  };
  await removeAll();
  const engine = createDockerEngine({ socketPath: DOCKER_SOCKET, clock: systemClock });
  return {
    engine,
    image,
    missingImage: "127.0.0.1:1/nobody/has-this:latest",
    exiting: { command: ["sh", "-c", "exit 3"] },
    broken: { command: ["/no/such/program"], hasInit: false },
    programs: {
      speaking: ["sh", "-c", "echo out; echo err >&2; exit 3"],
      endless: ["cat", "/dev/zero"],
      waiting: ["sleep", "86400"],
    },
    printing: { command: ["sh", "-c", "echo a word; echo two words >&2; echo end; sleep 86400"] },
    printed: "word",
    refusingRepository: "127.0.0.1:1/nobody/has-this",
    dispose: async () => {
      engine.close();
      await removeAll();
    },
  };
});
