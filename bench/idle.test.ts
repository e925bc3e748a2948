import { test } from "node:test";
import { run } from "./idle.ts";

test("a short idle benchmark runs to its end", async () => {
  await run(["--rounds", "1", "--idle-seconds", "0", "--hosts", "1"]);
});
