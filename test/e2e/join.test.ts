// A second machine: agents of their own, as a person starts them there, beside a server that offers no machine itself.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { cleanEnvironment, discard, runBerth, startBerth, type Berth } from "../support/berth.ts";
import { until } from "../support/until.ts";

const BERTH = path.join(import.meta.dirname, "../../berth");

/** An agent as a process of its own, with what it wrote so far. */
type Agent = { readonly output: () => string; stop(signal?: NodeJS.Signals): Promise<number | null> };

function startAgent(stateDir: string, ...args: readonly string[]): Agent {
  const all = ["agent", "--simulate", "1", "--state-dir", stateDir, ...args];
  const child = spawn(BERTH, all, {
    env: cleanEnvironment({ BERTH_LOG_LEVEL: "info" }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    output: () => output,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return ended;
    },
  };
}

describe("a second machine", () => {
  let berth: Berth;
  let folder: string;
  const agents: Agent[] = [];
  const start = (stateDir: string, ...args: readonly string[]) => {
    const agent = startAgent(stateDir, ...args);
    agents.push(agent);
    return agent;
  };

  before(async () => {
    berth = await startBerth({ args: ["--no-agent"] });
    folder = await mkdtemp(path.join(tmpdir(), "berth-join-"));
  });
  after(async () => {
    await Promise.all(agents.map((agent) => agent.stop("SIGKILL")));
    await discard(berth);
    await rm(folder, { recursive: true });
  });

  /** The words of the command that the server's operator is told to run on the other machine. */
  const joinWords = async (): Promise<readonly string[]> => {
    const { code, stdout, stderr } = await berth.cli("host", "token", "create", "--name", "rig");
    assert.equal(code, 0, stderr);
    const command = /^ {2}\.\/berth agent (--server \S+ --token \S+)$/m.exec(stdout)?.[1];
    assert.ok(command !== undefined, stdout);
    return command.split(" ");
  };
  type Machine = { readonly id: number; readonly is_connected: boolean; readonly clone_noticed_at: number | null };
  type Listed = { readonly credentials: readonly { readonly id: number; readonly machines: readonly Machine[] }[] };
  const machines = async () => {
    const { body } = await berth.call("GET", "/api/v0/hosts/credentials/", { key: berth.adminKey });
    const { credentials }: Listed = body;
    return credentials.flatMap(({ id, machines: all }) => all.map((machine) => ({ ...machine, credential: id })));
  };
  const connected = (id?: number) =>
    until("a connected machine", async () =>
      (await machines()).find((machine) => machine.is_connected && (id === undefined || machine.id === id)),
    );
  const away = (id: number) =>
    until("the machine to be away", async () =>
      (await machines()).find((machine) => machine.id === id && !machine.is_connected),
    );
  const offers = async () =>
    (await berth.call("POST", "/api/v0/bundles/", { key: berth.adminKey, body: {} })).body.offers.length;

  test("joins with the command that the server prints, goes on by itself, and stays the same host in another folder", async () => {
    const [first, second] = [path.join(folder, "first"), path.join(folder, "second")];
    const words = await joinWords();
    const agent = start(first, ...words);
    const { id } = await connected();
    await until("its offers", async () => (await offers()) > 0);
    const file = path.join(first, "credential.json");
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const { credential } = JSON.parse(await readFile(file, "utf8"));
    for (const secret of [credential, words[3] ?? assert.fail()]) assert.ok(!agent.output().includes(secret));
    assert.equal(await agent.stop(), 0);
    await away(id);
    const again = start(first, ...words);
    await connected(id);
    assert.match(again.output(), /has joined http:\S+ already; the token is not used/);
    await again.stop();
    await away(id);
    await rename(first, second);
    const moved = start(second);
    assert.equal((await connected()).id, id);
    await moved.stop();
    await away(id);
    assert.equal((await machines()).length, 1);
    const other = await runBerth(["agent", "--simulate", "1", "--state-dir", path.join(folder, "other"), ...words]);
    assert.equal(other.code, 4);
    assert.match(other.stderr, /This join token was used already/);
  });

  test("the first of two agents with one copied folder is still served, and the copy is told once why it is not", async () => {
    const [original, copy] = [path.join(folder, "original"), path.join(folder, "copy")];
    const agent = start(original, ...(await joinWords()));
    const { id, clone_noticed_at: before } = await connected();
    assert.equal(before, null);
    await until("its proof", async () => (await readdir(original)).some((name) => name.startsWith("proof-")));
    // A running agent replaces its files by new ones, and a copy that meets such a file fails.
    await until("a whole copy", async () => {
      await rm(copy, { recursive: true, force: true });
      await cp(original, copy, { recursive: true });
      return true;
    });
    const clone = start(copy);
    const noticed = await until("the copy to be noticed", async () =>
      (await machines()).find((machine) => machine.id === id && machine.clone_noticed_at !== null),
    );
    assert.ok(noticed.is_connected, "the original stays");
    await until("the copy to be told", () => clone.output().includes("credential_cloned"));
    assert.doesNotMatch(agent.output(), /disconnected|refuses/);
    await until("the copy to try again", async () => {
      const now = (await machines()).find((machine) => machine.id === id)?.clone_noticed_at ?? 0;
      return now > (noticed.clone_noticed_at ?? 0);
    });
    const told = clone.output().split("the server refuses this agent").length - 1;
    assert.equal(told, 1, "one line, however often it asks");
    await clone.stop();
    // A session of the original since the copy was made: what the copy has is old, also when nobody else is there.
    await agent.stop();
    await away(id);
    const back = start(original);
    await connected(id);
    await back.stop();
    await away(id);
    const late = start(copy);
    await until("the late copy to be told", () => late.output().includes("refuses this agent"));
    assert.ok(!(await machines()).some((machine) => machine.id === id && machine.is_connected));
    await late.stop();
    const again = start(original);
    await connected(id);
    await again.stop();
    await away(id);
  });

  test("a machine that lost its folder joins again and is the same machine; one that is revoked is told so", async () => {
    const state = path.join(folder, "lost");
    const agent = start(state, ...(await joinWords()));
    const { id } = await connected();
    await agent.stop("SIGKILL");
    await away(id);
    await rm(state, { recursive: true });
    const back = start(state, ...(await joinWords()));
    const { credential } = await connected(id);
    const { code, stderr } = await berth.cli("host", "revoke", String(credential));
    assert.equal(code, 0, stderr);
    await away(id);
    await until("the agent to be told", () => /"code":"revoked"/.test(back.output()));
    await back.stop();
    const list = await berth.cli("host", "list");
    assert.match(list.stdout, /revoked/);
  });
});
