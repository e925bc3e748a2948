// Each new migration runs while servers serve: none may keep them from a table for longer than a moment, or take away what
// those of the release before still use. docs/checklists/migration.md says how to write one that passes.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { parse, type Node } from "libpg-query";
import { notNullChecks, validatedBy } from "./alter-rules.ts";
import { kindOf, readHeader, type Finding, type Header, type MigrationSource } from "./file.ts";
import { judgeStatement } from "./statement-rules.ts";

/** Migrations up to this number were made before there was a lint, and stay as they are. */
const LAST_UNCHECKED = 623;
const FOLDER = "server/migrations";

/** Complaints about the new ones of these migrations, which are in the order of their numbers. */
export async function lintMigrations(migrations: readonly MigrationSource[]): Promise<readonly string[]> {
  const numbers = new Set(migrations.map((migration) => readHeader(migration).number));
  const history = { checks: new Map<string, string>(), checkedColumns: new Set<string>() };
  const complaints: string[] = [];
  for (const migration of migrations) {
    const header = readHeader(migration);
    if (header.number <= LAST_UNCHECKED) continue;
    const statements = await readStatements(migration);
    if (typeof statements === "string") complaints.push(`${FOLDER}/${migration.name}: ${statements}`);
    else complaints.push(...judge(migration, { header, statements, numbers, history }));
  }
  return complaints;
}

/** Complaints about the migrations of the tree. */
export async function lintTree(root: string): Promise<readonly string[]> {
  const folder = path.join(root, FOLDER);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
  return lintMigrations(
    await Promise.all(names.map(async (name) => ({ name, text: await readFile(path.join(folder, name), "utf8") }))),
  );
}

async function readStatements({ text }: MigrationSource): Promise<readonly Node[] | string> {
  try {
    const { stmts = [] } = await parse(text);
    return stmts.flatMap(({ stmt }) => (stmt === undefined ? [] : [stmt]));
  } catch (error) {
    return `PostgreSQL cannot read it (${error instanceof Error ? error.message : String(error)})`;
  }
}

type Judged = {
  readonly header: Header;
  readonly statements: readonly Node[];
  readonly numbers: ReadonlySet<number>;
  /** Not-null checks of earlier migrations by their names, and the columns of which such a check was validated. */
  readonly history: { readonly checks: Map<string, string>; readonly checkedColumns: Set<string> };
};

function judge({ name, text }: MigrationSource, { header, statements, numbers, history }: Judged): readonly string[] {
  const created = statements.flatMap((node) => ("CreateStmt" in node ? [node.CreateStmt.relation?.relname ?? ""] : []));
  const small = new Set([...created, ...header.smallTables]);
  const context = {
    isTransactional: header.isTransactional,
    isContract: header.contract !== undefined,
    isSmall: (table: string) => small.has(table),
    checkedColumns: new Set(history.checkedColumns),
  };
  const found = statements.flatMap((node) => judgeStatement(node, context));
  for (const node of statements) if ("AlterTableStmt" in node) remember(node, history);
  const findings = [...found, ...repetition(header, statements), ...contract(header, statements, numbers)];
  const open = findings.filter(({ rule }) => !header.allowed.includes(rule));
  const needless = header.allowed.filter((rule) => !findings.some((finding) => finding.rule === rule));
  const unused = header.smallTables.filter(
    (table) => !new RegExp(`\\b${table}\\b`).test(text.replaceAll(/^--.*$/gm, "")),
  );
  return [
    ...open.map(({ rule, message }) => `${FOLDER}/${name}: ${message} (${rule})`),
    ...needless.map((rule) => `${FOLDER}/${name}: nothing in it breaks the rule "${rule}" that it allows`),
    ...unused.map((table) => `${FOLDER}/${name}: says that ${table} has few rows, and does nothing with it`),
  ];
}

function remember(node: Extract<Node, { readonly AlterTableStmt: unknown }>, history: Judged["history"]): void {
  for (const [check, column] of notNullChecks(node.AlterTableStmt)) history.checks.set(check, column);
  for (const check of validatedBy(node.AlterTableStmt)) {
    const column = history.checks.get(check);
    if (column !== undefined) history.checkedColumns.add(column);
  }
}

/** A build that was cut short leaves a broken index, which its next run must remove first. */
function repetition({ isTransactional }: Header, statements: readonly Node[]): readonly Finding[] {
  if (isTransactional) return [];
  const dropped = new Set<string>();
  return statements.flatMap((node): readonly Finding[] => {
    if ("DropStmt" in node) for (const name of droppedNames(node.DropStmt.objects)) dropped.add(name);
    if (!("IndexStmt" in node)) return [];
    const { idxname = "" } = node.IndexStmt;
    if (dropped.has(idxname)) return [];
    const message = `a build of ${idxname} that was cut short could not be repeated: put "drop index concurrently if exists ${idxname};" before it`;
    return [{ rule: "transaction", message }];
  });
}

function droppedNames(objects: readonly Node[] = []): readonly string[] {
  return objects.flatMap((node) => {
    const last = "List" in node ? node.List.items?.at(-1) : undefined;
    return last !== undefined && "String" in last ? [last.String.sval ?? ""] : [];
  });
}

/** The declaration of a migration that takes something away. */
function contract(
  { contract: from, number }: Header,
  statements: readonly Node[],
  numbers: ReadonlySet<number>,
): readonly Finding[] {
  if (from === undefined) return [];
  if (from >= number || !numbers.has(from)) {
    const message = `"-- contract: NNNN" names the lowest schema that servers need: the number of an earlier migration`;
    return [{ rule: "drop", message }];
  }
  const takes = ["DropStmt", "RenameStmt", "AlterTableStmt", "UpdateStmt", "DeleteStmt"];
  if (statements.some((node) => takes.includes(kindOf(node)))) return [];
  return [{ rule: "drop", message: "it takes nothing away, so it is no contract" }];
}
