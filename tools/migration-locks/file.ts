import type { Node } from "libpg-query";

/** A migration as the lint reads it, with what its comments declare. */
export type MigrationSource = { readonly name: string; readonly text: string };

export type Rule =
  | "index"
  | "drop"
  | "rename"
  | "rewrite"
  | "scan"
  | "not-null"
  | "rows"
  | "lock"
  | "transaction"
  | "timeout"
  | "unknown";

export type Finding = { readonly rule: Rule; readonly message: string };

/** Facts that a statement is judged by. */
export type Context = {
  readonly isTransactional: boolean;
  readonly isContract: boolean;
  /** True for a table that has few rows everywhere, or none yet: reading all of it takes no time. */
  readonly isSmall: (table: string) => boolean;
  /** Columns, as `table.column`, of which a validated check says that they are not null. */
  readonly checkedColumns: ReadonlySet<string>;
};

export type Header = {
  readonly number: number;
  readonly isTransactional: boolean;
  readonly contract: number | undefined;
  readonly smallTables: readonly string[];
  /** Rules that the file breaks on purpose; each with its reason. */
  readonly allowed: readonly string[];
};

/** Reads the comments `-- no-transaction`, `-- contract: NNNN`, `-- few-rows: TABLE, …` and `-- allow RULE: reason`. */
export function readHeader({ name, text }: MigrationSource): Header {
  const contract = /^-- contract: (\d{4})$/m.exec(text)?.[1];
  const small = [...text.matchAll(/^-- few-rows: (.+)$/gm)].flatMap(([, tables = ""]) => tables.split(/,\s*/));
  return {
    number: Number(name.slice(0, 4)),
    isTransactional: !/^-- no-transaction$/m.test(text),
    contract: contract === undefined ? undefined : Number(contract),
    smallTables: small,
    allowed: [...text.matchAll(/^-- allow ([a-z-]+): \S/gm)].map(([, rule = ""]) => rule),
  };
}

/** The only key of a node, which says what it is. */
export function kindOf(node: Node): string {
  return Object.keys(node)[0] ?? "";
}
