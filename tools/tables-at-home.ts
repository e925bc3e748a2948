// SQL stays at home: a store touches the tables of its own domain. tables-at-home.json says where each table lives, and which
// stores still reach into the tables of others; that list only shrinks.
import type { Complaint, SourceFile } from "./source-files.ts";

const LIST = "tools/tables-at-home.json";
const DOMAIN =
  /^server\/src\/(?:domains\/(?<domain>(?:people|supply|rental|money)\/[^/]+|[^/]+)|(?<room>[^/]+))\/.*\.ts$/;
const TABLE = "[a-z][a-z0-9_]*";
const BUILDER = `\\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto|from|using|\\w*[jJ]oin(?:Lateral)?)\\(\\s*\\[?\\s*"(${TABLE})`;
const STATEMENT = `\\b(?:from|join|using|into|update)\\s+(?:only\\s+)?(${TABLE})\\b`;

type Homes = {
  /** Tables, and views, by the folder of their domain below server/src/domains, or the room of the server. */
  readonly homes: Readonly<Record<string, readonly string[]>>;
  /** Tables of other domains that a store reads or writes, by the store's path. */
  readonly exceptions: Readonly<Record<string, readonly string[]>>;
};

/** Complaints about tables without a home, stores that reach into the tables of others, and entries that are not needed. */
export function tablesAtHome(files: readonly SourceFile[]): readonly Complaint[] {
  const list = files.find((file) => file.path === LIST);
  if (list === undefined) return [];
  const { homes, exceptions }: Homes = JSON.parse(list.text);
  const homeOf = new Map(Object.entries(homes).flatMap(([home, tables]) => tables.map((table) => [table, home])));
  const schema = files.find((file) => file.path === "server/schema.sql")?.text ?? "";
  const tables = [...schema.matchAll(new RegExp(`^create (?:table|view) (${TABLE})`, "gm"))].map(
    ([, table = ""]) => table,
  );
  return [
    ...tables.filter((table) => !homeOf.has(table)).map((table) => `${LIST}: say in whose domain ${table} lives`),
    ...files.flatMap((file) => judge(file, homeOf, new Set(exceptions[file.path]))),
    ...Object.keys(exceptions)
      .filter((name) => schema !== "" && !files.some((file) => file.path === name))
      .map((name) => `${LIST}: there is no ${name}`),
  ];
}

function judge(
  { path, text }: SourceFile,
  homeOf: ReadonlyMap<string, string>,
  excepted: ReadonlySet<string>,
): readonly Complaint[] {
  const { domain, room } = DOMAIN.exec(path)?.groups ?? {};
  const own = domain ?? room;
  if (own === undefined || path.endsWith(".test.ts") || path === "server/src/db/tables.ts") return [];
  const foreign = tablesIn(text).filter((table) => (homeOf.get(table) ?? own) !== own);
  return [
    ...foreign
      .filter((table) => !excepted.has(table))
      .map((table) => `${path}: the table ${table} belongs to ${homeOf.get(table)}; ask its index.ts instead`),
    ...[...excepted]
      .filter((table) => !foreign.includes(table))
      .map((table) => `${LIST}: ${path} no longer touches ${table}`),
  ];
}

/** The names that stand where a statement names a table, without comments. */
function tablesIn(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*[^]*?\*\/|\/\/[^\n]*/g, "");
  const names = [BUILDER, STATEMENT].flatMap((pattern) => [...code.matchAll(new RegExp(pattern, "gi"))]);
  return [...new Set(names.map(([, name = ""]) => name))];
}
