// The texts of the tree that the house rules read.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

/** One file of the tree: its path from the root with slashes, and its text. */
export type SourceFile = { readonly path: string; readonly text: string };
/** `path: what is wrong`, or `path:line: what is wrong`. */
export type Complaint = string;

const READ = [
  "{*.md,*.json,*.cjs,berth}",
  "docs/**/*.md",
  "{protocol,tunnel,server,agent,sdk,worker,cli,console,test,bench,tools}/**/*.{ts,tsx,sql,md,json}",
];
const NOT_READ = ["**/node_modules/**", "console/dist/**", "package-lock.json"];

export function readTree(root: string): readonly SourceFile[] {
  const paths = globSync(READ, { cwd: root, exclude: NOT_READ });
  return paths.toSorted().map((file) => ({ path: file, text: readFileSync(path.join(root, file), "utf8") }));
}
