// Runs one trial and says what came of it: minutes of computing would keep everybody else waiting in the server's own thread.
import { parentPort, workerData } from "node:worker_threads";
import { runTrial, type Trial } from "./trial.ts";

const trial: Trial = workerData;
parentPort?.postMessage(runTrial(trial));
