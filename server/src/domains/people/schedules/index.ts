export { JobRunner } from "./job-runner.ts";
export { runJobsLoop, scheduleLoops } from "./loops.ts";
export { scheduleRoutes } from "./routes.ts";
