import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { ManualClock } from "../../test/manual-clock.ts";
import { credentialPath } from "./credential.ts";
import { join, type Joined } from "./join.ts";
import { findMembership, type Membership } from "./membership.ts";
import { parseOptions } from "../options.ts";
import type { KnownServers } from "./servers.ts";

type Request = Readonly<Record<string, string>>;

describe("joining", () => {
  let folder: string;
  let server: Server;
  let url: string;
  let respond: (request: Request, response: ServerResponse) => void;
  let nonces = 0;
  const requests: Request[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(joinPath(tmpdir(), "berth-join-"));
    requests.length = 0;
    server = createServer((request, response) => {
      void readBody(request).then((body) => {
        requests.push(body);
        respond(body, response);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
    // As the control plane does: the same request is answered alike.
    respond = ({ token, nonce }, response) => answer(response, 200, { success: true, credential: `${token}-${nonce}` });
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    rmSync(folder, { recursive: true });
  });

  /** Runs a join; the clock is moved for as long as it waits between attempts. */
  const run = async (token = "token"): Promise<Joined> => {
    const clock = new ManualClock();
    let joined: Joined | undefined;
    void join({
      clock,
      urls: { apiUrl: url, socketUrl: "" },
      token,
      hostKey: "machine-1",
      fingerprint: "print",
      hostname: "rig",
      stateDir: folder,
      newNonce: () => `nonce-of-sixteen-${(nonces += 1)}`,
      fetch,
    }).then((result) => (joined = result));
    await clock.until("the end of the join", () => joined !== undefined);
    return joined ?? assert.fail();
  };
  const membership = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const parsed = parseOptions(["--simulate", "1", "--state-dir", folder, ...argv], env);
    assert.ok(parsed.ok);
    const said: string[] = [];
    const found = findMembership({
      options: parsed.options,
      clock: new ManualClock(),
      tell: (line) => said.push(line),
    });
    return found.then((result) => ({ result, said }));
  };

  it("sends what names the machine and stores what comes back, for its owner only", async () => {
    const joined = await run();
    assert.ok(joined.ok);
    const path = credentialPath(folder);
    const { server: stored, host_key: hostKey, credential } = JSON.parse(readFileSync(path, "utf8"));
    assert.deepEqual([stored, hostKey, credential], [url, "machine-1", joined.credential.credential]);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const { nonce: _, ...sent } = requests[0] ?? {};
    assert.deepEqual(sent, { token: "token", host_key: "machine-1", fingerprint: "print", name: "rig" });
  });

  it("asks again with the same nonce when the answer is lost or the server is busy", async () => {
    const good = respond;
    const failures = [
      (response: ServerResponse) => response.destroy(),
      (response: ServerResponse) => answer(response, 503, { msg: "not now" }),
      (response: ServerResponse) => answer(response, 429, { detail: "later", msg: "later" }),
    ];
    respond = (request, response) => {
      const fail = failures.shift();
      if (fail === undefined) good(request, response);
      else fail(response);
    };
    assert.ok((await run()).ok);
    assert.equal(requests.length, 4);
    assert.equal(new Set(requests.map(({ nonce }) => nonce)).size, 1);
  });

  it("an agent that was killed before it had the answer gets that very answer, and another token is another join", async () => {
    const good = respond;
    respond = (_request, response) => response.destroy();
    assert.ok(!(await run()).ok);
    respond = good;
    const joined = await run();
    assert.ok(joined.ok);
    assert.equal(joined.credential.credential, `token-${requests[0]?.["nonce"]}`);
    await run("another");
    assert.notEqual(requests.at(-1)?.["nonce"], requests[0]?.["nonce"]);
  });

  it("a refusal is told in the server's own words, and not asked for again", async () => {
    respond = (_request, response) => answer(response, 400, { error: "x", msg: "This join token was used already." });
    const joined = await run();
    assert.ok(!joined.ok && joined.problem.endsWith("This join token was used already."), JSON.stringify(joined));
    assert.equal(requests.length, 1);
  });

  it("an address that is no control plane is reported as that", async () => {
    for (const [status, text] of [
      [200, "<html>"],
      [404, "no"],
      [200, "{}"],
    ] as const) {
      respond = (_request, response) => void response.writeHead(status).end(text);
      const joined = await run();
      assert.ok(!joined.ok && /is it a Berth server/.test(joined.problem), JSON.stringify(joined));
    }
  });

  it("happens once: later starts use what was stored, with or without a token, and the folder may move", async () => {
    const first = await membership(["--server", url, "--token", "token"]);
    assert.ok(first.result.ok);
    const before: Membership = first.result.membership;
    for (const argv of [[], ["--server", url], ["--server", `${url.replace("http", "ws")}/agent`]]) {
      const later = await membership(argv);
      assert.ok(later.result.ok);
      const { hostKey, servers } = later.result.membership;
      assert.deepEqual(
        [hostKey, servers.home, tokenOf(servers)],
        [before.hostKey, { apiUrl: url, socketUrl: `${url.replace("http", "ws")}/agent` }, tokenOf(before.servers)],
      );
      assert.deepEqual(later.said, []);
    }
    const again = await membership(["--server", url, "--token", "another"]);
    assert.ok(again.result.ok && tokenOf(again.result.membership.servers) === tokenOf(before.servers));
    assert.match(again.said.join("\n"), /^this machine has joined .* already; the token is not used.*$/);
    assert.equal(requests.length, 1);
  });

  it("another server needs a token of its own, and another name is refused", async () => {
    assert.ok((await membership(["--server", url, "--token", "token"])).result.ok);
    const elsewhere = await membership(["--server", "http://127.0.0.1:1"]);
    assert.ok(!elsewhere.result.ok && /give --token to join/.test(elsewhere.result.problem));
    const renamed = await membership(["--host-key", "another"]);
    assert.ok(!renamed.result.ok && /leave --host-key out/.test(renamed.result.problem));
  });

  it("without a token and without a credential the machine is told how to join", async () => {
    const { result } = await membership(["--server", url]);
    assert.ok(!result.ok && /berth host token create/.test(result.problem) && !result.problem.includes("\n"));
  });

  it("a damaged credential is named, not replaced", async () => {
    writeFileSync(credentialPath(folder), '{"server": 7');
    const { result } = await membership(["--server", url, "--token", "token"]);
    assert.ok(!result.ok && result.problem.includes(credentialPath(folder)));
    assert.equal(requests.length, 0);
  });

  it("the agent that a server starts uses what it is given and stores nothing", async () => {
    const { result } = await membership(["--server", url], { BERTH_AGENT_TOKEN: "given" });
    assert.ok(result.ok && tokenOf(result.membership.servers) === "given");
    const proofs = result.membership.proofOf("x", () => assert.fail());
    assert.ok(proofs.keep("proof") && proofs.load() === "");
  });
});

/** The credential for the server at which the machine joined. */
function tokenOf(servers: KnownServers): string {
  return servers.bearer(servers.home.apiUrl);
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Request> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text);
}
