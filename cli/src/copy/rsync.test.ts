import assert from "node:assert/strict";
import { test } from "node:test";
import { readProgress, rsyncArguments } from "./rsync.ts";

test("a line of rsync's progress is read, and the time at the end of a file is not taken for the time left", () => {
  assert.deepEqual(readProgress("      1234567  12%  110.77MB/s    0:00:01"), {
    bytes: 1_234_567,
    percent: 12,
    speed: "110.77MB/s",
    timeLeft: "0:00:01",
  });
  assert.equal(readProgress("  7 100%  1.00kB/s    0:00:09 (xfr#1, to-chk=9/11)")?.timeLeft, undefined);
  for (const line of ["", "Number of files: 5", "Total file size: 12 bytes", "sent 1 bytes  received 2 bytes"]) {
    assert.equal(readProgress(line), undefined);
  }
});

test("words of ssh with blanks and quotes reach it as they are, and a limit is in the unit of rsync", () => {
  const copy = { source: "/a b/", destination: "u@h::7/x", sshOptions: ["-i", "my 'own' key", "-p", "22"] };
  const free = rsyncArguments({ ...copy, limitMegabytes: undefined });
  assert.equal(free[free.indexOf("-e") + 1], "ssh -i 'my ''own'' key' -p 22");
  assert.deepEqual(free.slice(-3), ["--", "/a b/", "u@h::7/x"]);
  assert.ok(!free.some((word) => word.startsWith("--bwlimit")));
  assert.ok(rsyncArguments({ ...copy, limitMegabytes: 1.024 }).includes("--bwlimit=1000"));
  assert.ok(rsyncArguments({ ...copy, limitMegabytes: 0.000_1 }).includes("--bwlimit=1"), "0 would be no limit");
});

test("every option is one that the oldest rsync of the documentation knows", () => {
  // Words of the manual of rsync 3.2.3. It has --protect-args; --secluded-args is a later name.
  const known = new Set(
    "archive no-owner no-group compress protect-args mkpath partial-dir no-inc-recursive no-human-readable info stats outbuf bwlimit".split(" "), // prettier-ignore
  );
  const words = rsyncArguments({ source: "/a", destination: "u@h::7/x", sshOptions: [], limitMegabytes: 1 });
  const options = words.slice(0, words.indexOf("--")).filter((word) => word.startsWith("--"));
  assert.deepEqual(
    options.filter((word) => !known.has(word.slice("--".length).replace(/=.*/, ""))),
    [],
  );
});
