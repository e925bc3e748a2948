import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { SETTINGS } from "./settings-table.ts";
import { SETTINGS_ELSEWHERE, unknownSettings } from "./unknown-settings.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const ROOMS = ["agent", "cli/src", "sdk/src", "worker/src", "bench", "test", "tools", "server/src"];

test("a slip is named with the variable that was meant, and what is known or no setting is left alone", () => {
  const environment = {
    BERTH_PROT: "80",
    BERTH_LEASE_SECOND: "60",
    berth_port: "80",
    BERTH_SOMETHING_ELSE_ENTIRELY: "1",
    BERTH_AGENT_URL: "",
    BERTH_PORT: "80",
    BERTH_URL: "http://127.0.0.1",
    BIRTH_PORT: "80",
    "BERTH_\u001b[2J": "1",
    PATH: "/bin",
  };
  assert.deepEqual(unknownSettings(environment), [
    "BERTH_LEASE_SECOND is not a setting of Berth and changes nothing; did you mean BERTH_LEASE_SECONDS?",
    "BERTH_PROT is not a setting of Berth and changes nothing; did you mean BERTH_PORT?",
    "BERTH_SOMETHING_ELSE_ENTIRELY is not a setting of Berth and changes nothing; docs/run.md lists them",
    "berth_port is not a setting of Berth and changes nothing; did you mean BERTH_PORT?",
  ]);
});

test("every variable that any program of Berth reads is known, and no other", async () => {
  const texts = await Promise.all(
    ROOMS.map(async (room) => {
      const files = (await readdir(path.join(ROOT, room), { recursive: true })).filter(
        (name) => name.endsWith(".ts") && !name.includes("node_modules"),
      );
      return Promise.all(files.map((name) => readFile(path.join(ROOT, room, name), "utf8")));
    }),
  );
  const whole = texts.flat().join("\n");
  const read = [...whole.matchAll(/(?:env\[|environment\[|\.env\()"(BERTH_[A-Z_]+)"/g)].map(([, name = ""]) => name);
  const known = [...SETTINGS.map(({ name }) => name), ...SETTINGS_ELSEWHERE];
  assert.deepEqual([...new Set(read)].filter((name) => !known.includes(name)).toSorted(), []);
  const stale = SETTINGS_ELSEWHERE.filter((name) => whole.split(name).length - 1 < 2 && !isOption(name, whole));
  assert.deepEqual(stale, [], "names that only the list has");
});

/** Options of the agent and the worker have a variable each, whose name the program makes. */
function isOption(name: string, whole: string): boolean {
  const option = /^BERTH_(?:AGENT|WORKER)_([A-Z_]+)$/.exec(name)?.[1]?.toLowerCase().replaceAll("_", "-");
  return option !== undefined && whole.includes(`--${option}`);
}
