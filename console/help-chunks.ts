// Makes the pages of docs/ part of the console's build: each becomes a tree of plain data, which the console shows as elements.
// No HTML is made, so that text of a page is always text.
import path from "node:path";
import { readFile } from "node:fs/promises";
import { lexer, type Token, type Tokens } from "marked";
import type { Block, HelpEntry, HelpGroup, HelpPage, Piece } from "./src/pages/help/nodes.ts";

const ROOT = path.join(import.meta.dirname, "..");
/** Pages for those who work on Berth, which the console leaves out. */
const LEFT_OUT = new Set(["ARCHITECTURE"]);
/** Characters of the first paragraph that the search and the list have. */
const FIRST_CHARS_MAX = 200;

/** The plugin for the build: `docs/NAME.md` is a page, `?entry` its line in the index, and `README.md?groups` the groups. */
export function helpChunks() {
  return {
    name: "berth-help",
    enforce: "pre" as const,
    async load(id: string): Promise<{ readonly code: string; readonly moduleType: "js" } | undefined> {
      const [file = "", query = ""] = id.split("?");
      if (!file.startsWith(`${ROOT}/`) || !file.endsWith(".md")) return undefined;
      const name = path.basename(file, ".md");
      const text = await readFile(file, "utf8");
      if (query.includes("groups")) return moduleOf("groups", readGroups(text));
      const page = readPage(name, text);
      return query.includes("entry") ? moduleOf("entry", entryOf(page)) : moduleOf("page", page);
    },
  };
}

function moduleOf(name: string, value: unknown): { readonly code: string; readonly moduleType: "js" } {
  return { code: `export const ${name} = ${JSON.stringify(value)};`, moduleType: "js" };
}

/** The page that a file of docs/ is, with its title apart. */
export function readPage(name: string, text: string): HelpPage {
  const ids = new Map<string, number>();
  const blocks = blocksOf(lexer(text), ids);
  const [first, ...rest] = blocks;
  const title = first?.kind === "heading" ? plainText(first.pieces) : name;
  return { name: name.toLowerCase(), title, blocks: first?.kind === "heading" ? rest : blocks };
}

/** The line of a page in the index: its title, headings and first words. */
function entryOf({ name, title, blocks }: HelpPage): HelpEntry {
  const headings = blocks.flatMap((block) =>
    block.kind === "heading" ? [{ id: block.id, text: plainText(block.pieces) }] : [],
  );
  const paragraph = blocks.find((block) => block.kind === "paragraph");
  const first = paragraph?.kind === "paragraph" ? plainText(paragraph.pieces).replaceAll(/\s+/g, " ") : "";
  return { name, title, headings, first: first.slice(0, FIRST_CHARS_MAX) };
}

/** Groups of pages as "Read on" of the README has them. */
export function readGroups(text: string): readonly HelpGroup[] {
  const [, section = ""] = text.split(/^## Read on$/m);
  return section.split(/^- \*\*/m).flatMap((part) => {
    const [, name] = /^([^*]+):\*\*/.exec(part) ?? [];
    const pages = [...part.matchAll(/\]\(docs\/([\w-]+)\.md/g)].map(([, page = ""]) => page);
    const kept = pages.filter((page) => !LEFT_OUT.has(page)).map((page) => page.toLowerCase());
    return name === undefined || kept.length === 0 ? [] : [{ name, pages: [...new Set(kept)] }];
  });
}

function blocksOf(tokens: readonly Token[], ids: Map<string, number>): readonly Block[] {
  return tokens.flatMap((token) => blockOf(token, ids));
}

function blockOf(token: Token, ids: Map<string, number>): readonly Block[] {
  if (isHeading(token)) {
    const pieces = piecesOf(innerOf(token));
    return [{ kind: "heading", level: token.depth, id: freshId(plainText(pieces), ids), pieces }];
  }
  if (token.type === "code") return [{ kind: "code", text: textOf(token) }];
  if (token.type === "blockquote") return [{ kind: "quote", blocks: blocksOf(innerOf(token) ?? [], ids) }];
  if (isList(token)) {
    const items = token.items.map((item) => blocksOf(item.tokens, ids));
    return [{ kind: "list", isOrdered: token.ordered, start: Number(token.start) || 1, items }];
  }
  if (isTable(token)) {
    const head = token.header.map((cell) => piecesOf(cell.tokens));
    const rows = token.rows.map((row) => row.map((cell) => piecesOf(cell.tokens)));
    return [{ kind: "table", head, rows }];
  }
  if (token.type === "space" || token.type === "hr") return [];
  const pieces = piecesOf(innerOf(token) ?? [token]);
  return [{ kind: token.type === "text" ? "text" : "paragraph", pieces }];
}

const innerOf = (token: Token): readonly Token[] | undefined => ("tokens" in token ? token.tokens : undefined);
const textOf = (token: Token): string => ("text" in token ? String(token.text) : token.raw);
const isList = (token: Token): token is Tokens.List => token.type === "list";
const isHeading = (token: Token): token is Tokens.Heading => token.type === "heading";
const isLink = (token: Token): token is Tokens.Link => token.type === "link";
const isTable = (token: Token): token is Tokens.Table => token.type === "table";

function piecesOf(tokens: readonly Token[] = []): readonly Piece[] {
  return tokens.flatMap((token): readonly Piece[] => {
    const inner = innerOf(token);
    if (token.type === "codespan") return [{ kind: "code", text: textOf(token) }];
    if (token.type === "strong" || token.type === "em") return [{ kind: token.type, pieces: piecesOf(inner) }];
    if (isLink(token)) return [linkOf(token.href, piecesOf(inner))];
    if (token.type === "br") return ["\n"];
    return token.type === "text" && inner !== undefined ? piecesOf(inner) : [textOf(token)];
  });
}

/** A link to another page of the console or to the web; of a link to any other file only the words stay. */
function linkOf(href: string, pieces: readonly Piece[]): Piece {
  if (/^https?:\/\//.test(href)) return { kind: "away", href, pieces };
  const [, name, hash = ""] = /^(?:([\w-]+)\.md)?(?:#(.*))?$/.exec(href) ?? [];
  if (name !== undefined && !LEFT_OUT.has(name)) return { kind: "page", page: name.toLowerCase(), hash, pieces };
  if (name === undefined && hash !== "") return { kind: "here", hash, pieces };
  return { kind: "plain", pieces };
}

function plainText(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => (typeof piece === "string" ? piece : piece.kind === "code" ? piece.text : plainText(piece.pieces)))
    .join("");
}

/** The id that a heading has on pages of repositories as well; equal headings are numbered. */
function freshId(text: string, ids: Map<string, number>): string {
  const id = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
  const count = ids.get(id) ?? 0;
  ids.set(id, count + 1);
  return count === 0 ? id : `${id}-${count}`;
}
