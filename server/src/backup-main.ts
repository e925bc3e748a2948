// `berth backup`: backs the embedded database up into one file, and proves that it can be restored.
import { parseArgs } from "node:util";
import { systemClock } from "./base/clock.ts";
import { createLog } from "./base/log.ts";
import { backUp } from "./assembly/database-backup/backup.ts";
import { readSecretFiles } from "./assembly/secret-files.ts";
import { describeInspection, finish, sizeText } from "./assembly/database-backup/report.ts";

await finish(async () => {
  await readSecretFiles(process.env);
  const { values } = parseArgs({
    options: { file: { type: "string" }, "data-dir": { type: "string" }, unverified: { type: "boolean" } },
  });
  const { file = "", "data-dir": dataDir = "", unverified = false } = values;
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  const log = createLog(process.env["BERTH_LOG_LEVEL"] ?? "warn");
  const { bytes, inspection } = await backUp(
    { dataDir, file, secret: process.env["BERTH_SECRET"], isVerified: !unverified },
    { clock: systemClock, log, signal: stopping.signal },
  );
  const isSound = inspection?.audit.isSound ?? true;
  return {
    isSound,
    lines: [
      `${file}: ${sizeText(bytes)}, readable by its owner alone. It holds the server's keys: keep it like them.`,
      ...(inspection === undefined
        ? ["It was not verified."]
        : describeInspection("a copy restored from it", inspection)),
    ],
  };
});
