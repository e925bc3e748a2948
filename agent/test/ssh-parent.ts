// A process that does nothing but hold doors open, for tests that kill it: `ssh-parent.ts STATE_FOLDER DOORS_AS_JSON`.
import { systemClock } from "../src/base/clock.ts";
import { silentLog } from "../src/base/log.ts";
import { createSshService } from "../src/ssh/service.ts";

const [stateDir = "", doors = "[]"] = process.argv.slice(2);
const service = createSshService({
  dockerSocket: "/var/run/docker.sock",
  bindAddress: "127.0.0.1",
  stateDir,
  clock: systemClock,
  random: Math.random,
  log: silentLog,
});
service.setDoors(JSON.parse(doors));
