import { readFileSync } from "node:fs";
import path from "node:path";
import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import { UpdateResult } from "../../../protocol/index.ts";
import { writeDurably } from "../base/durable-file.ts";

/** A version that was downloaded, checked and unpacked. */
const Unpacked = Type.Object({
  version: Type.String(),
  /** The name of its folder below `versions`: the digest of its archive. */
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});
export type Unpacked = Static<typeof Unpacked>;

const Book = Type.Object({
  /** The version that runs in place of the installed one. */
  current: Type.Optional(Unpacked),
  /** The end of the last attempt, and the archive that it was about: one that failed is not tried again. */
  last: Type.Optional(Type.Object({ result: UpdateResult, sha256: Type.String() })),
});
export type Book = Static<typeof Book>;
export type LastUpdate = NonNullable<Book["last"]>;

const schema = Compile(Book);
const bookPath = (stateDir: string): string => path.join(stateDir, "updates.json");

export function versionFolder(stateDir: string, { sha256 }: Unpacked): string {
  return path.join(stateDir, "versions", sha256);
}

/** Reads the versions of this agent. A damaged file is an empty one: the installed version runs then. */
export function readBook(stateDir: string): Book {
  try {
    const value: unknown = JSON.parse(readFileSync(bookPath(stateDir), "utf8"));
    return schema.Check(value) ? value : {};
  } catch {
    return {};
  }
}

export function writeBook(stateDir: string, book: Book): void {
  writeDurably(bookPath(stateDir), `${JSON.stringify(book, undefined, 2)}\n`);
}
