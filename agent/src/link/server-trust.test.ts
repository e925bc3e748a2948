import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { aSelfSignedCertificate } from "../../../test/support/network/self-signed.ts";
import { cleanEnvironment, run } from "../../../test/support/berth.ts";
import { trustServers } from "./server-trust.ts";

const AGENT = path.join(import.meta.dirname, "../main.ts");

describe("the server that an agent trusts", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-trust-"));
  const own = aSelfSignedCertificate("localhost");
  const server = createServer(own, (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ credential: "given" }));
  });
  let port = 0;
  let stateCount = 0;
  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    port = typeof address === "object" && address !== null ? address.port : 0;
    writeFileSync(path.join(folder, "own.pem"), own.cert);
    writeFileSync(path.join(folder, "empty.pem"), "nothing");
  });
  after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  const join = (host: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const state = path.join(folder, `state-${(stateCount += 1)}`);
    const all = ["--simulate", "1", "--join-only", "--state-dir", state, "--server", `https://${host}:${port}`];
    return run(process.execPath, [AGENT, ...all, "--token", "join", ...words], cleanEnvironment(env));
  };

  it("has a certificate from a root that the machine or its owner names, and for the name that was given", async () => {
    const file = path.join(folder, "own.pem");
    const unknown = await join("localhost", []);
    assert.equal(unknown.code, 4);
    assert.match(unknown.stderr, /could not join .*: its certificate is signed by itself: .* --ca-file/);
    const otherName = await join("127.0.0.1", ["--ca-file", file]);
    assert.match(otherName.stderr, /its certificate is for another name/);
    const trusted = await join("localhost", [], { BERTH_AGENT_CA_FILE: file });
    assert.deepEqual([trusted.code, trusted.stderr], [0, ""]);
  });

  it("is never taken unchecked", () => {
    assert.match(trustServers(undefined, { NODE_TLS_REJECT_UNAUTHORIZED: "0" }) ?? "", /remove it/);
    assert.match(trustServers(path.join(folder, "none.pem"), {}) ?? "", /--ca-file: .*no such file/);
    assert.match(trustServers(path.join(folder, "empty.pem"), {}) ?? "", /holds no certificate/);
  });
});
