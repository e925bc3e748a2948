import assert from "node:assert/strict";
import { test } from "node:test";
import { dollars, renderFields, renderTable } from "./output.ts";

test("columns are aligned, numbers at the right, and nothing trails", () => {
  const rows = [
    { id: 7, name: "a" },
    { id: 12345, name: "bcd" },
  ];
  const columns = [
    { title: "ID", cell: (row: (typeof rows)[number]) => row.id },
    { title: "NAME", cell: (row: (typeof rows)[number]) => row.name },
  ];
  assert.equal(renderTable(rows, columns, ""), "   ID  NAME\n    7  a\n12345  bcd");
  assert.equal(renderTable([], columns, "Nothing."), "Nothing.");
});

test("a name that another user chose cannot move the cursor of the terminal", () => {
  const evil = "\u001b[2Jgone\u009b1A\n";
  assert.equal(renderFields({ label: evil }), "label  \u{FFFD}[2Jgone\u{FFFD}1A\u{FFFD}");
});

test("fields without a value are left out", () => {
  assert.equal(renderFields({ id: 7, label: "", status_msg: null, gpus: undefined, n: 0 }), "id  7\nn   0");
});

test("prices show cents, and four digits where cents would hide a difference", () => {
  const shown = [0.2317, 1.5, 12.345, -20, -0.0001, 0, undefined].map(dollars);
  assert.deepEqual(shown, ["$0.2317", "$1.50", "$12.35", "-$20.00", "-$0.0001", "$0.00", "-"]);
});
