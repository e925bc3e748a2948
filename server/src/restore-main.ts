// `berth restore`: puts the database of a backup into a data directory, or prepares an external database that
// PostgreSQL's own tools have restored, and audits it.
import { parseArgs } from "node:util";
import { systemClock } from "./base/clock.ts";
import { createLog } from "./base/log.ts";
import { acceptRestore, restore } from "./assembly/database-backup/restore.ts";
import { readSecretFiles } from "./assembly/secret-files.ts";
import { describeInspection, finish } from "./assembly/database-backup/report.ts";

const HOSTS =
  "Hosts connect again by themselves. They stop and keep what was rented after that moment: docs/operate/backups.md.";

await finish(async () => {
  await readSecretFiles(process.env);
  const { values } = parseArgs({
    options: {
      file: { type: "string" },
      "data-dir": { type: "string" },
      replace: { type: "boolean" },
      external: { type: "boolean" },
    },
  });
  const { file = "", "data-dir": dataDir = "", replace: isReplacing = false, external: isExternal = false } = values;
  const means = { clock: systemClock, log: createLog(process.env["BERTH_LOG_LEVEL"] ?? "warn") };
  const secret = process.env["BERTH_SECRET"];
  if (isExternal) {
    const connection = { connectionString: process.env["BERTH_DATABASE_DIRECT_URL"] || process.env["DATABASE_URL"] };
    const inspection = await acceptRestore({ connection, dataDir, secret }, means);
    const lines = [...describeInspection("the database of DATABASE_URL", inspection), HOSTS];
    return { isSound: inspection.audit.isSound, lines };
  }
  const { backupAt, inspection, asideFolder } = await restore({ file, dataDir, secret, isReplacing }, means);
  return {
    isSound: inspection.audit.isSound,
    lines: [
      `${dataDir} has the state of ${backupAt.toISOString()}. Start it with ./berth up.`,
      ...describeInspection("it", inspection),
      ...(asideFolder === undefined ? [] : [`What was there before is in ${asideFolder}.`]),
      HOSTS,
    ],
  };
});
