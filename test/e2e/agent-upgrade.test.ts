// A real agent process takes newer versions of itself from its server: a broken one, one that hangs, and one that works.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { discard, NO_LIMITS, startBerth, untilOffered, type Berth } from "../support/berth.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { freePort } from "../support/network/free-port.ts";
import { until } from "../support/until.ts";
import { startAgent, type AgentChild } from "../support/upgrade/agent.ts";
import { laterVersion, type Version } from "../support/upgrade/versions.ts";

const ENV = { ...NO_LIMITS, BERTH_PROXY_PORTS: "off", BERTH_LOG_LEVEL: "error" };
const TRIAL_SECONDS = "40";

type Machine = { readonly agent_version: string; readonly agent_update: string | null; readonly is_connected: boolean };

describe("an agent that updates itself", () => {
  const versions: Version[] = [];
  let server: Berth;
  let agent: AgentChild;
  let port = 0;
  let databaseUrl = "";

  /** The server in another version, with its agent for all machines. */
  const replace = async (version: string, files: Readonly<Record<string, string>>) => {
    const made = await laterVersion(version, files);
    versions.push(made);
    await server.stop();
    const env = { ...ENV, BERTH_AGENT_UPGRADE_PERCENT: "100" };
    const { dataDir } = server;
    server = await startBerth({ args: ["--no-agent"], databaseUrl, port, dataDir, env, program: made.program });
  };
  const machine = async (): Promise<Machine> => {
    const { body } = await server.call("GET", "/api/v0/hosts/credentials/", { key: server.adminKey });
    const { credentials } = body as { readonly credentials: readonly { readonly machines: readonly Machine[] }[] };
    const found = credentials.flatMap(({ machines }) => machines)[0];
    assert.ok(found);
    return found;
  };
  const becomes = (what: string, fits: (machine: Machine) => boolean) =>
    until(what, async () => {
      const found = await machine();
      return found.is_connected && fits(found) ? found : undefined;
    });

  before(async () => {
    ({ url: databaseUrl } = await testDatabase());
    port = await freePort();
    server = await startBerth({ args: ["--no-agent"], databaseUrl, port, env: ENV });
    const env = { BERTH_AGENT_TRIAL_SECONDS: TRIAL_SECONDS };
    agent = await startAgent(server, { hosts: 1, words: ["--self-upgrade"], env });
    await untilOffered(server, 1);
  });
  after(async () => {
    await agent?.stop();
    if (server !== undefined) await discard(server);
    for (const version of versions) await version.remove();
  });

  test("a version that dies is rolled back, and its host's row says why", async () => {
    const { agent_version: first, agent_update: none } = await machine();
    assert.equal(none, null);
    await replace("99.0.0", { "agent/src/main.ts": "process.exit(7);\n" });
    const after = await becomes("the broken version to be taken back", ({ agent_update: update }) => update !== null);
    assert.deepEqual(
      [after.agent_version, after.agent_update],
      [first, "99.0.0 rolled back: it ended with exit code 7 before it had reported"],
    );
  });

  test("a version that hangs is rolled back, and one that works takes over and stays after a restart", async () => {
    await replace("99.1.0", { "agent/src/main.ts": "setInterval(() => {}, 1000);\n" });
    const hung = await becomes("the hanging version to be taken back", ({ agent_update: update }) =>
      String(update).startsWith("99.1.0"),
    );
    assert.equal(hung.agent_update, "99.1.0 rolled back: it had no report acknowledged within 40 s");
    await replace("99.2.0", {});
    const updated = await becomes("the newer version to run", (found) => found.agent_version === "99.2.0");
    assert.equal(updated.is_connected, true);
    await untilOffered(server, 1);
    const book = path.join(agent.stateDir, "updates.json");
    await until("the launcher to keep it", async () =>
      /"current": \{\s*"version": "99\.2\.0"/.test(await readFile(book, "utf8")),
    );
    await agent.restart();
    const again = await becomes("its result to be told", ({ agent_update: update }) => update === "99.2.0 done");
    assert.equal(again.agent_version, "99.2.0");
    const { stdout } = await server.cli("host", "list");
    assert.match(stdout, /AGENT[^]* 99\.2\.0 [^]*update to 99\.2\.0 done/);
  });
});
