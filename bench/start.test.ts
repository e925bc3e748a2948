import { test } from "node:test";
import { run } from "./start.ts";

test("a short start benchmark runs to its end", async () => {
  await run(["--rounds", "1", "--megabytes", "5", "--containers", "2", "--rest-seconds", "1"]);
});
