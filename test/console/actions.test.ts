import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { createProgram } from "../../cli/src/program.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const OPERATION = /export function (\w+)\([^{]*\{\s*return client\.\w+\(\{ method: "(\w+)", path: (`[^`]*`|"[^"]*")/g;
const IMPORTED = /import \{([^}]*)\} from "[./]*sdk\/src\/index\.ts"/g;
/** A method, or two between which a condition decides, and what stands behind it up to the next method. */
const SHOWN = /method: ([^,}]*"\w+")([^]*?)(?=method: |$)/g;
const BEHIND_MAX = 300;

/** Operations that change something and have no request to show, with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  adminUserSeeAs: "it changes what the session of this browser shows",
  browserLeaveView: "it changes what the session of this browser shows",
  browserRequestReset: "nobody is signed in",
  browserResetPassword: "nobody is signed in",
  browserSignOut: "it ends the session of this browser",
  endpointWorkers: "the page asks it beside the request that it shows",
  instanceRequestLogs: "it asks for the log where the agent cannot send it",
  passkeyCreate: "a browser signs it",
  passkeyOptions: "a browser signs what follows",
  passkeySignIn: "nobody is signed in",
  passkeySignInOptions: "nobody is signed in",
};

const sources = globSync("console/src/**/*.{ts,tsx}", { cwd: ROOT }).map((file) =>
  readFileSync(path.join(ROOT, file), "utf8"),
);

/** The path without its parameters: `/api/v0/instances/{}/`. */
function plain(quoted: string): string {
  return quoted
    .slice(1, -1)
    .replaceAll(/\$\{[^}]*\}/g, "{}")
    .replace(/\?.*/, "");
}

/** Requests of the operations with which the console changes something: operation → request. */
function changes(): ReadonlyMap<string, string> {
  const operations = new Map(
    [...readFileSync(path.join(ROOT, "sdk/src/operations.ts"), "utf8").matchAll(OPERATION)]
      .filter(([, , method]) => method !== "GET")
      .map(([, name = "", method = "", target = ""]) => [name, `${method} ${plain(target)}`] as const),
  );
  const found = sources.flatMap((source) =>
    [...source.matchAll(IMPORTED)].flatMap(([, names = ""]) =>
      names
        .split(",")
        .map((name) => name.trim())
        // Some questions are sent as POST; they are asked by queries.
        .filter((name) => !new RegExp(String.raw`ask\w*\(\s*"[^"]*",\s*${name}\b`).test(source)),
    ),
  );
  return new Map([...operations].filter(([name]) => found.includes(name) && WITHOUT[name] === undefined));
}

/** Requests that the console shows. */
function shownRequests(): readonly string[] {
  return sources.flatMap((source) =>
    [...source.matchAll(SHOWN)].flatMap(([, methods = "", behind = ""]) =>
      [...methods.matchAll(/"(\w+)"/g)].flatMap(([, method = ""]) =>
        (behind.slice(0, BEHIND_MAX).match(/`\/[^`]*`|"\/[^"]*"/g) ?? []).map((quoted) => `${method} ${plain(quoted)}`),
      ),
    ),
  );
}

test("each action of the console is shown as a request", () => {
  const shown = shownRequests();
  const missing = [...changes()].filter(([, request]) => {
    const pattern = new RegExp(`^${request.replaceAll("{}", String.raw`[^/]+`)}$`);
    return !shown.some((one) => pattern.test(one));
  });
  assert.deepEqual(
    missing.map(([name]) => name),
    [],
  );
});

test("each command that the console shows is one of the command line", () => {
  const program = createProgram();
  const shown = sources.flatMap((source) =>
    [...source.matchAll(/command(?:=\{|: )\[\s*((?:"[a-z-]+",\s*)*"[a-z-]+")/g)].map(([, words = ""]) =>
      [...words.matchAll(/"([a-z-]+)"/g)].map(([, word = ""]) => word),
    ),
  );
  assert.ok(shown.length > 40, `${shown.length} commands were found`);
  for (const words of shown) {
    let at = program;
    for (const word of words) {
      if (at.commands.length === 0) break;
      const next = at.commands.find((command) => command.name() === word);
      assert.ok(next, `there is no command ${words.join(" ")}`);
      at = next;
    }
  }
});
