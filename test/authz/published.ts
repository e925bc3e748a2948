import published from "./published-operations.json" with { type: "json" };

/** One row of docs/compatibility.md. */
export type TableRow = { readonly operation: string; readonly since: string };

/** The name of an operation without its final slash and the names of its parameters, which differ between texts. */
export function shapeOf(operation: string): string {
  return operation.replaceAll(/:\w+|\{\w+\}/g, "{}").replace(/(?<=.)\/$/, "");
}

/** Operations that a document was published of, or that a published client calls, such as `GET /api/v0/template/`. */
export const PUBLISHED: readonly string[] = published;

/** The rows of all tables of the page, in its order. */
export function readTable(page: string): readonly TableRow[] {
  return [...page.matchAll(/^\| `([A-Z]+ \/[^`]*)` +\| ([^|]*?) +\|/gm)].map(([, operation = "", since = ""]) => ({
    operation,
    since,
  }));
}

const ABSENT = "not yet";

/** Facts about the operations of this server, by shape. */
export type Known = {
  readonly routes: ReadonlySet<string>;
  /** Operations with a row of the authorization tests, of which each has a call that works. */
  readonly authorized: ReadonlySet<string>;
  /** Operations with a request that must be refused, or of which it is said that they take nothing. */
  readonly badlyAsked: ReadonlySet<string>;
  /** Versions that the page may name. */
  readonly versions: ReadonlySet<string>;
};

/** The mistakes of the table, one sentence each. */
export function mistakesOf(table: readonly TableRow[], known: Known, all: readonly string[] = PUBLISHED): string[] {
  const operations = table.map(({ operation }) => operation);
  const [inTable, inData] = [new Set(operations), new Set(all)];
  return [
    ...all.filter((one) => !inTable.has(one)).map((one) => `${one} is published and has no row`),
    ...operations.filter((one) => !inData.has(one)).map((one) => `${one} has a row and is not published`),
    ...operations.filter((one, index) => operations.indexOf(one) !== index).map((one) => `${one} has two rows`),
    ...table.flatMap((row) => mistakesOfRow(row, known)),
  ];
}

function mistakesOfRow({ operation, since }: TableRow, known: Known): string[] {
  const shape = shapeOf(operation);
  if (since === ABSENT) {
    return known.routes.has(shape) ? [`${operation} is called "${ABSENT}" and has a route`] : [];
  }
  return [
    ...(known.versions.has(since) ? [] : [`${operation} is since "${since}", which is no version`]),
    ...(known.routes.has(shape) ? [] : [`${operation} is called present and has no route`]),
    ...(known.authorized.has(shape) ? [] : [`${operation} has no authorization row with a call that works`]),
    ...(known.badlyAsked.has(shape) ? [] : [`${operation} has no test with bad input`]),
  ];
}
