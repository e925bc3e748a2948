import { readFile } from "node:fs/promises";
import path from "node:path";
import { Type, type Static } from "typebox";
import { Value } from "typebox/value";
import { SECRET_FILE } from "../files.ts";
import manifest from "../../../../package.json" with { type: "json" };

/** Files beside the database without which it cannot be served: its secret, the keys to it, and the directory's name. */
export const BESIDE = [SECRET_FILE, "admin.key", "server.id", "postgres.password"] as const;

const FORMAT = "berth database backup 1";
const BEGIN_FILE = "backup.json";
const END_FILE = "backup-end.json";

const Begin = Type.Object({ format: Type.Literal(FORMAT), berth: Type.String(), begun_at: Type.String() });
const End = Type.Object({ ended_at: Type.String() });

/** The first and the last file of a backup. One without the last file was cut short. */
export const markers = {
  begin: (at: Date): readonly [string, Static<typeof Begin>] => [
    BEGIN_FILE,
    { format: FORMAT, berth: manifest.version, begun_at: at.toISOString() },
  ],
  end: (at: Date): readonly [string, Static<typeof End>] => [END_FILE, { ended_at: at.toISOString() }],
};

/** The end of an unpacked backup: its state is that of this moment. Throws where the folder holds no whole backup. */
export async function readEndOfBackup(folder: string): Promise<Date> {
  const begin = await readJson(path.join(folder, BEGIN_FILE));
  const end = await readJson(path.join(folder, END_FILE));
  if (!Value.Check(Begin, begin)) throw new Error("The file is no backup that `berth backup` made.");
  if (!Value.Check(End, end)) throw new Error("The backup was cut short; take an earlier one.");
  return new Date(end.ended_at);
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}
