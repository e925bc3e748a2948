// Runs one trial and posts its result: seconds of computing would block the server's own thread.
import { parentPort, workerData } from "node:worker_threads";
import { runTrial, type Trial } from "./trial.ts";

const trial: Trial = workerData;
parentPort?.postMessage(runTrial(trial));
