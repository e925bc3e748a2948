import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { Type } from "typebox";
import { Compile } from "typebox/compile";

const UNPACKED_BYTES_MAX = 536_870_912;
const Archive = Type.Object({
  files: Type.Array(
    Type.Object({ path: Type.String({ pattern: "^[A-Za-z0-9@._/-]{1,1000}$" }), base64: Type.String() }),
  ),
});
const schema = Compile(Archive);
const gunzipAll = promisify(gunzip);

/** Writes the files of an archive below a folder; the signature of the archive was checked before. */
export async function unpack(archive: Buffer, folder: string): Promise<void> {
  const text = (await gunzipAll(archive, { maxOutputLength: UNPACKED_BYTES_MAX })).toString("utf8");
  const value: unknown = JSON.parse(text);
  if (!schema.Check(value)) throw new Error("the archive is not one of an agent");
  for (const file of value.files) {
    const target = path.join(folder, file.path);
    if (!target.startsWith(`${folder}${path.sep}`)) throw new Error(`${file.path} leads out of the archive`);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, Buffer.from(file.base64, "base64"), { mode: 0o600 });
  }
}
