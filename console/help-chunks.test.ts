import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { readGroups, readPage } from "./help-chunks.ts";
import { HELP_OF } from "./src/help.ts";
import type { Block, Piece } from "./src/pages/help/nodes.ts";

const ROOT = path.join(import.meta.dirname, "..");
const files = globSync("docs/*.md", { cwd: ROOT }).filter((file) => !file.endsWith("ARCHITECTURE.md"));
const pages = files.map((file) => readPage(path.basename(file, ".md"), readFileSync(path.join(ROOT, file), "utf8")));
const headingsOf = new Map(
  pages.map(({ name, blocks }) => [
    name,
    new Set(blocks.flatMap((block) => (block.kind === "heading" ? [block.id] : []))),
  ]),
);

test("each page of the console that has help leads to a page, and to a heading of it, that exist", () => {
  for (const [address, target] of Object.entries(HELP_OF)) {
    const [page = "", hash] = target.split("#");
    assert.ok(headingsOf.has(page), `${address}: there is no docs/${page}.md`);
    assert.ok(hash === undefined || headingsOf.get(page)?.has(hash), `${address}: ${target} has no such heading`);
  }
});

test("links within the help lead to pages and headings that exist", () => {
  for (const { name, blocks } of pages) {
    for (const piece of blocks.flatMap(piecesIn)) {
      if (typeof piece === "string" || (piece.kind !== "page" && piece.kind !== "here")) continue;
      const page = piece.kind === "page" ? piece.page : name;
      assert.ok(headingsOf.has(page), `${name} leads to ${page}`);
      assert.ok(piece.hash === "" || headingsOf.get(page)?.has(piece.hash), `${name} leads to ${page}#${piece.hash}`);
    }
  }
});

test("each page that the README names is in a group of the help", () => {
  const groups = readGroups(readFileSync(path.join(ROOT, "README.md"), "utf8"));
  const named = groups.flatMap((group) => group.pages);
  assert.ok(groups.length >= 6);
  for (const page of named) assert.ok(headingsOf.has(page), page);
});

test("markup of a page stays text, and a link to a file elsewhere keeps its words only", () => {
  const { title, blocks } = readPage(
    "x",
    "# A <b>title</b>\n\n<script>1</script>\n\nSee [this](../LICENSE), [that](javascript:1).",
  );
  assert.equal(title, "A <b>title</b>");
  const pieces = blocks.flatMap(piecesIn);
  assert.ok(pieces.some((piece) => typeof piece === "string" && piece.includes("<script>")));
  const kinds = pieces.flatMap((piece) => (typeof piece === "string" ? [] : [piece.kind]));
  assert.deepEqual(kinds, ["plain", "plain"]);
});

function piecesIn(block: Block): readonly Piece[] {
  if (block.kind === "code") return [];
  if (block.kind === "quote") return block.blocks.flatMap(piecesIn);
  if (block.kind === "list") return block.items.flat().flatMap(piecesIn);
  return block.kind === "table" ? [...block.head, ...block.rows.flat()].flat() : block.pieces;
}
