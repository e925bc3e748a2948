import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { systemClock } from "./clock.ts";
import { readOptions, USAGE } from "./options.ts";
import { startWorker, type WorkerCertificate } from "./worker.ts";

const EXIT_USAGE = 2;
const EXIT_NOT_A_WORKER = 3;
/** Less than the time that a container is given to end. */
const DRAIN_LIMIT_MS = 8_000;

const log = (line: string): void => void process.stderr.write(`berth worker: ${line}\n`);

function readCertificate(): WorkerCertificate | undefined {
  try {
    return { cert: readFileSync("/etc/instance.crt", "utf8"), key: readFileSync("/etc/instance.key", "utf8") };
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const argv = process.argv.slice(2);
  if (argv.includes("--help")) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const read = readOptions(argv, process.env);
  if (!read.ok) {
    process.stderr.write(`${read.problem}\n\n${USAGE}\n`);
    process.exitCode = EXIT_USAGE;
    return;
  }
  const certificate = readCertificate();
  const given = {
    environment: process.env,
    certificate,
    readCertificate,
    clock: systemClock,
    newId: randomUUID,
    log,
  };
  const worker = await startWorker({ ...read.options, ...given }).catch((error: unknown) => {
    log(`cannot be a worker here: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(EXIT_NOT_A_WORKER);
  });
  let isEnding = false;
  const end = (signal: string) => {
    if (isEnding) return;
    isEnding = true;
    log(`${signal}: finishes the requests in progress`);
    const limit = systemClock.sleep(DRAIN_LIMIT_MS + 1_000);
    void Promise.race([worker.drain(DRAIN_LIMIT_MS), limit]).then(() => process.exit(0));
  };
  process.on("SIGTERM", () => end("SIGTERM"));
  process.on("SIGINT", () => end("SIGINT"));
}

await main();
