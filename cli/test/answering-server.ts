import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";

const main = path.resolve(import.meta.dirname, "../src/main.ts");

type Answer = { readonly status?: number; readonly body: unknown };
/** Answers by method and path, such as `GET /api/v0/machines/`; a function gets the request body. */
export type Answers = Readonly<Record<string, Answer | ((body: unknown) => Answer)>>;

/** A server with fixed answers, and `berth` run against it as a script would: 404 for what it has no answer to. */
export async function answer(t: TestContext, answers: Answers) {
  const received: [string, unknown][] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const url = request.url ?? "";
      received.push([`${request.method} ${url}`, body]);
      const known = answers[`${request.method} ${url.replace(/\?.*/, "")}`];
      const missing = { status: 404, body: { success: false, error: "not_found", msg: "There is nothing." } };
      const { status = 200, body: said } = (typeof known === "function" ? known(body) : known) ?? missing;
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(said));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const dataDir = mkdtempSync(path.join(tmpdir(), "berth-cli-"));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(path.join(dataDir, "server.url"), `${url}\n`);
  writeFileSync(path.join(dataDir, "admin.key"), "admin-secret\n");
  return { received, url, berth: (...args: readonly string[]) => runBerth(args, dataDir) };
}

async function runBerth(args: readonly string[], dataDir: string) {
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const child = execFile(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    env: { PATH, NODE_COMPILE_CACHE, BERTH_DATA_DIR: dataDir },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => (output.stdout += String(chunk)));
  child.stderr?.on("data", (chunk) => (output.stderr += String(chunk)));
  const [code]: number[] = await once(child, "close");
  return { code: code ?? -1, ...output };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text === "" ? undefined : JSON.parse(text);
}
