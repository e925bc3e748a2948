// Writes the result of server/migrations: the whole schema as SQL, for reading and for review, and its types for
// Kysely. `--check` writes nothing and fails when the files differ.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { systemClock } from "../server/src/base/clock.ts";
import { migrate } from "../server/src/db/migrate.ts";
import {
  asSuperuser,
  findOrStartTestPostgres,
  OWNER,
  ownerConnection,
} from "../test/support/database/postgres-server.ts";
import { readCatalog, type Catalog } from "./schema/catalog.ts";
import { renderSql } from "./schema/render-sql.ts";
import { renderTypes } from "./schema/render-types.ts";

const ROOT = path.join(import.meta.dirname, "..");

/** The generated files and what they should contain, by their path below the root. */
async function generate(): Promise<Readonly<Record<string, string>>> {
  const catalog = await readMigratedCatalog(path.join(ROOT, "server/migrations"));
  const ids = readFileSync(path.join(ROOT, "server/src/base/ids.ts"), "utf8");
  const brands = new Set([...ids.matchAll(/^export type (\w+Id) =/gm)].map(([, name = ""]) => name));
  return {
    "server/schema.sql": renderSql(catalog),
    "server/src/db/tables.ts": format("server/src/db/tables.ts", renderTypes(catalog, brands)),
  };
}

/** Applies the migrations to a database of their own and reads the resulting schema. */
async function readMigratedCatalog(directory: string): Promise<Catalog> {
  const server = await findOrStartTestPostgres();
  const name = `dump_${crypto.randomUUID().replaceAll("-", "")}`;
  try {
    return await asSuperuser(server.superuserUrl, async (superuser) => {
      await superuser.query(`create database ${name} strategy file_copy owner ${OWNER}`);
      const connection = ownerConnection(server.superuserUrl, name);
      try {
        await migrate(connection, { directory, clock: systemClock });
        const client = new pg.Client(connection);
        await client.connect();
        try {
          return await readCatalog(client);
        } finally {
          await client.end();
        }
      } finally {
        await superuser.query(`drop database ${name} with (force)`);
      }
    });
  } finally {
    await server.stop();
  }
}

function format(file: string, text: string): string {
  const formatter = path.join(ROOT, "node_modules/.bin/oxfmt");
  const done = spawnSync(formatter, [`--stdin-filepath=${file}`], { cwd: ROOT, input: text, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${file} could not be formatted: ${done.stderr || String(done.error)}`);
  return done.stdout;
}

/** The first line that differs, for a reader who wants to know what happened. */
function describeDifference(have: string, want: string): string {
  const haveLines = have.split("\n");
  const wantLines = want.split("\n");
  const index = wantLines.findIndex((line, number) => line !== haveLines[number]);
  const number = index < 0 ? wantLines.length : index;
  return `  line ${number + 1} is      ${haveLines[number] ?? "(end)"}\n  but should be ${wantLines[number] ?? "(end)"}`;
}

const isCheck = process.argv.includes("--check");
for (const [file, want] of Object.entries(await generate())) {
  const place = path.join(ROOT, file);
  const have = existsSync(place) ? readFileSync(place, "utf8") : "";
  if (have === want) continue;
  if (isCheck) {
    console.error(
      `${file} is not what the migrations make; run \`node tools/dump-schema.ts\`\n${describeDifference(have, want)}`,
    );
    process.exitCode = 1;
  } else {
    writeFileSync(place, want);
    console.log(`wrote ${file}`);
  }
}
