// Writes server/openapi.json from the schemas of the routes. The server is put together, but nothing listens and no
// database is asked. With --check it only says whether the file is up to date.
import path from "node:path";
import { buildApp } from "../server/src/assembly/app.ts";
import { systemClock } from "../server/src/base/clock.ts";
import { createLog } from "../server/src/base/log.ts";
import { connect } from "../server/src/db/connect.ts";
import { DEFAULT_LIMITS } from "../server/src/http/rate-limit.ts";
import { NO_PROXIES } from "../server/src/http/trusted-proxies.ts";
import { writeOrCheck } from "./generated-file.ts";
import { aFactKeeper } from "../test/support/database/facts.ts";

type Document = { readonly paths?: Readonly<Record<string, object | undefined>> | undefined };

type Route = { readonly method: string; readonly path: string; readonly operation: string };

/** The document that the server answers at `/openapi.json`. `onRoute` hears of each route that the server has. */
export async function describeApi(onRoute: (route: Route) => void = () => {}): Promise<Document> {
  const log = createLog("silent");
  const database = connect({ host: "/nonexistent" }, log, aFactKeeper());
  const { http } = buildApp({
    database,
    clock: systemClock,
    log,
    random: (size) => Buffer.alloc(size),
    secret: Buffer.alloc(32),
    limits: DEFAULT_LIMITS,
    trustedProxies: NO_PROXIES,
    proxy: { bindHost: "127.0.0.1", publicHost: "localhost" },
  });
  http.app.addHook("onRoute", ({ method, url, config }) =>
    onRoute({ method: String(method), path: url, operation: config?.access?.operation ?? "" }),
  );
  try {
    await http.app.ready();
    return http.app.swagger();
  } finally {
    await http.app.close();
    await database.close();
  }
}

/** JSON whose paths stand in alphabetical order, so that the order of registration changes no line of it. */
export function renderApi(document: Document): string {
  const byPath = Object.entries(document.paths ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${render({ ...document, paths: Object.fromEntries(byPath) }, "")}\n`;
}

const LINE_LENGTH = 120;

/** JSON in which a list or an object stands on one line if it fits there. */
function render(value: unknown, indent: string): string {
  const short = oneLine(value);
  if (typeof value !== "object" || value === null || indent.length + short.length <= LINE_LENGTH) return short;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((one: unknown) => `${inner}${render(one, inner)}`)
    : Object.entries(value)
        .filter(([, one]) => one !== undefined)
        .map(([key, one]) => `${inner}${JSON.stringify(key)}: ${render(one, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${members.join(",\n")}\n${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).filter(([, one]) => one !== undefined);
  if (members.length === 0) return "{}";
  return `{ ${members.map(([key, one]) => `${JSON.stringify(key)}: ${oneLine(one)}`).join(", ")} }`;
}

if (import.meta.main) {
  writeOrCheck(path.resolve(import.meta.dirname, "../server/openapi.json"), renderApi(await describeApi()));
}
