// Secrets stay where they must be: unusual words go in as each kind of secret, and are looked for everywhere else.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { discard, startBerth, type Berth } from "../support/berth.ts";
import { busyboxImage, docker, removeLabelled } from "../support/hosts/docker.ts";
import { until } from "../support/until.ts";

const canary = (name: string) => `canary${name}${randomBytes(12).toString("hex")}`;
const TEMPLATE_PASSWORD = canary("templatepassword");
const LOGIN_PASSWORD = canary("loginpassword");
const ENV_VALUE = canary("envvalue");
const USER_PASSWORD = canary("userpassword");
const ACCOUNT_SECRET = canary("accountsecret");
const LABEL = canary("label");

describe("secrets", () => {
  let berth: Berth;
  let hostKey = "";
  let [ownerKey, otherKey, instanceKey, agentToken, scopedKey] = ["", "", "", "", ""];
  const rented: number[] = [];

  const call = async (key: string, method: string, target: string, body?: unknown) => {
    const answer = await berth.call(method, target, { key, ...(body === undefined ? {} : { body }) });
    assert.equal(answer.status, 200, `${method} ${target}: ${answer.text}`);
    return answer.body;
  };
  const rent = (key: string, body: object) =>
    until("a rental", async () => {
      const { offers } = await call(key, "POST", "/api/v0/bundles/", { num_gpus: { eq: 1 } });
      if (offers.length === 0) return undefined;
      const order = { disk: 8, runtype: "args", ...body };
      const answer = await berth.call("PUT", `/api/v0/asks/${offers[0].id}/`, { key, body: order });
      // The search may still show an offer that was rented a moment ago: on 410 the caller searches again.
      if (answer.status === 410) return undefined;
      assert.equal(answer.status, 200, answer.text);
      rented.push(answer.body.new_contract);
      return answer.body;
    });
  const containerOf = (id: number) =>
    docker("ps", "-aq", "--filter", `label=berth.host_key=${hostKey}`, "--filter", `label=berth.instance_id=${id}`);

  before(async () => {
    const image = await busyboxImage();
    berth = await startBerth({ args: ["--declare-gpus", "RTX 4090:4"], env: { BERTH_LOG_LEVEL: "trace" } });
    ownerKey = String((await berth.admin("user", "create", "owner@example.com", "--credit", "50"))["api_key"]);
    otherKey = String((await berth.admin("user", "create", "other@example.com", "--credit", "50"))["api_key"]);
    const [machine] = await until("this machine on the market", async () => {
      const machines = await berth.sql("select host_key from machines where is_connected");
      return machines.length === 1 && machines;
    });
    hostKey = String(machine?.["host_key"]);
    const [agent = 0] = await berth.agentPids();
    const environment = (await readFile(`/proc/${agent}/environ`, "utf8")).split("\0");
    agentToken = environment.find((line) => line.startsWith("BERTH_AGENT_TOKEN="))?.split("=")[1] ?? "";

    await call(ownerKey, "POST", "/api/v0/secrets/", { key: "account_token", value: ACCOUNT_SECRET });
    const { template } = await call(ownerKey, "POST", "/api/v0/template/", {
      name: "private registry",
      image,
      env: `-e TOKEN=${ENV_VALUE}`,
      docker_login_repo: "registry.invalid",
      docker_login_user: "puller",
      docker_login_pass: TEMPLATE_PASSWORD,
      private: true,
    });
    const first = await rent(ownerKey, { template_hash_id: template.hash_id, label: LABEL });
    instanceKey = first.instance_api_key;
    await rent(ownerKey, {
      image: "127.0.0.1:1/nobody/has-this",
      image_login: `-u puller -p ${LOGIN_PASSWORD} 127.0.0.1:1`,
    });
    const strangers = await rent(otherKey, { image });
    scopedKey = (
      await call(ownerKey, "POST", "/api/v0/auth/apikeys/", { name: "scoped", permissions: { api: { misc: {} } } })
    ).key;
    const fresh = await berth.call("POST", "/api/v0/users/", {
      body: { email: "fresh@example.com", username: "fresh", password: `Aa1!${USER_PASSWORD}` },
    });
    assert.equal(fresh.status, 200, fresh.text);
    for (const id of [first.new_contract, strangers.new_contract]) {
      await until(`instance ${id} runs`, async () => (await containerOf(id)) !== "");
    }
    await until("the pull to have failed", async () => {
      const { instances } = await call(ownerKey, "GET", `/api/v0/instances/${rented[1]}/`);
      return instances.status_msg !== "" && instances.status_msg !== null;
    });
    // Mistakes carry secrets too, and end in messages and logs.
    for (const body of [{ docker_login_pass: TEMPLATE_PASSWORD }, { name: 7, docker_login_pass: TEMPLATE_PASSWORD }]) {
      const refused = await berth.call("POST", "/api/v0/template/", { key: ownerKey, body });
      assert.equal(refused.status, 400);
      assert.ok(!refused.text.includes(TEMPLATE_PASSWORD));
    }
    for (const body of [
      { key: "account_token", value: ACCOUNT_SECRET },
      { key: "CONTAINER_ID", value: ACCOUNT_SECRET },
      { key: "other", value: `${ACCOUNT_SECRET} !` },
    ]) {
      const refused = await berth.call("POST", "/api/v0/secrets/", { key: ownerKey, body });
      assert.ok(refused.status === 400 && !refused.text.includes(ACCOUNT_SECRET), refused.text);
    }
    const wrongLogin = await berth.call("PUT", "/api/v0/asks/1/", {
      key: ownerKey,
      body: { image, image_login: `-p ${LOGIN_PASSWORD} 'unclosed` },
    });
    assert.ok(wrongLogin.status === 400 && !wrongLogin.text.includes(LOGIN_PASSWORD), wrongLogin.text);
    const wrongFlag = await berth.call("PUT", "/api/v0/asks/1/", { key: `${ownerKey}x`, body: {} });
    assert.ok(wrongFlag.status === 401 && !wrongFlag.text.includes(ownerKey));
    await berth.call("GET", `/api/v0/users/me/?api_key=${ownerKey}`);
    await berth.call("GET", `/api/v0/nothing/?api_key=${ownerKey}`);
  });
  after(async () => {
    await discard(berth);
    await removeLabelled("berth.host_key", hostKey);
  });

  /** The secrets by name, for messages that must not show them. */
  const keys = () => ({
    admin: berth.adminKey,
    owner: ownerKey,
    other: otherKey,
    instance: instanceKey,
    scoped: scopedKey,
    agent: agentToken,
  });
  const words = () => ({
    ...keys(),
    "template password": TEMPLATE_PASSWORD,
    "login password": LOGIN_PASSWORD,
    "env value": ENV_VALUE,
    "user password": USER_PASSWORD,
    "account secret": ACCOUNT_SECRET,
  });

  test("no secret is in what server, agent and database write to screen and log files", async () => {
    for (const [name, word] of Object.entries(words())) {
      assert.ok(word.length > 20, name);
      assert.ok(!berth.output().includes(word), `the ${name} is in the output`);
    }
    const entries = await readdir(berth.dataDir, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      // The database's own files hold what it stores, which the next tests are about; disks belong to their renters.
      .filter((file) => !file.includes("/postgres/cluster/") && !file.endsWith(".img"))
      .filter((file) => path.basename(file) !== "admin.key");
    assert.ok(files.some((file) => file.endsWith("postgres.log")));
    for (const file of files) {
      const text = await contentOf(file);
      for (const [name, word] of Object.entries(words())) assert.ok(!text.includes(word), `the ${name} is in ${file}`);
    }
  });

  test("the database holds no key, password or secret in clear", async () => {
    const found = new Map<string, string[]>();
    const client = await berth.connect();
    const { rows: columns } = await client.query<{ table_name: string; column_name: string }>(
      "select table_name, column_name from information_schema.columns where table_schema = 'public' order by 1, 2",
    );
    const secrets = Object.entries({ ...words(), label: LABEL });
    for (const { table_name: table, column_name: column } of columns) {
      const { rows } = await client.query<{ word: string }>(
        `select word from unnest($1::text[], $2::text[]) as wanted (word, hex)
         where exists (select from "${table}" where position(word in "${column}"::text) > 0 or position(hex in "${column}"::text) > 0)`,
        [secrets.map(([, word]) => word), secrets.map(([, word]) => Buffer.from(word).toString("hex"))],
      );
      for (const { word } of rows) {
        const [name = ""] = secrets.find(([, one]) => one === word) ?? [];
        found.set(name, [...(found.get(name) ?? []), `${table}.${column}`]);
      }
    }
    await client.end();
    // The search would find them: a label is stored in clear.
    assert.ok(found.get("label")?.includes("instances.label"));
    found.delete("label");
    assert.deepEqual(Object.fromEntries(found), {});
  });

  test("no answer shows a password again, and no stranger's answer the owner's values", async () => {
    const targets = [
      ...[
        "/api/v0/template/",
        "/api/v0/instances/",
        "/api/v1/instances/",
        "/api/v0/auth/apikeys/",
        "/api/v0/audit_logs/",
        "/api/v0/secrets/",
      ],
      ...["/api/v0/users/me/", "/api/v0/endptjobs/", "/api/v0/users/me/invoices/?inc_charges=true", "/api/v0/volumes/"],
      ...rented.map((id) => `/api/v0/instances/${id}/`),
    ];
    const secrets = Object.entries(words()).filter(([name]) => name !== "env value");
    for (const target of targets) {
      for (const [who, key] of Object.entries({ owner: ownerKey, other: otherKey, admin: berth.adminKey })) {
        const { text } = await berth.call("GET", target, { key });
        for (const [name, word] of secrets) assert.ok(!text.includes(word), `${target} shows ${who} the ${name}`);
        if (who !== "owner") assert.ok(!text.includes(ENV_VALUE), `${target} shows ${who} the env value`);
      }
    }
    const { text } = await berth.call("GET", "/metrics", { key: berth.adminKey });
    for (const [name, word] of Object.entries(words())) assert.ok(!text.includes(word), `the metrics show the ${name}`);
  });

  test("a container knows its own values and key, and nothing of other containers, passwords or the host", async () => {
    const [own, , strangers] = rented;
    assert.ok(own !== undefined && strangers !== undefined);
    const mine = await docker("inspect", await containerOf(own));
    assert.ok(mine.includes(ENV_VALUE) && mine.includes(instanceKey));
    assert.ok(mine.includes(`ACCOUNT_TOKEN=${ACCOUNT_SECRET}`));
    const theirs = await docker("inspect", await containerOf(strangers));
    for (const [name, word] of Object.entries(words()))
      assert.ok(!theirs.includes(word), `another container has the ${name}`);
    const notEvenMine = { ...words(), "env value": "\0", "account secret": "\0", instance: "\0" };
    for (const [name, word] of Object.entries(notEvenMine))
      assert.ok(!mine.includes(word), `the own container has the ${name}`);
  });

  test("no secret is on a command line that every user of the machine can read", async () => {
    const numbers = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid);
    for (const number of numbers) {
      const line = await readFile(`/proc/${number}/cmdline`, "utf8").catch(() => "");
      for (const [name, word] of Object.entries(words()))
        assert.ok(!line.includes(word), `the ${name} is on a command line`);
    }
  });
});

/** The file's content; empty when it is gone: a rewritten file has another name for a moment, and is read under that. */
async function contentOf(file: string): Promise<string> {
  try {
    return (await readFile(file)).toString("latin1");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return "";
    throw cause;
  }
}
