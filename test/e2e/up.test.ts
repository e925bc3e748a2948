// `berth up` as its operator meets it: options and environment, mistakes, what it says, and what it offers on the side.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import {
  aDataDir,
  cleanEnvironment,
  discard,
  removeDataDir,
  run,
  runBerth,
  startBerth,
  type Berth,
  type Ran,
} from "../support/berth.ts";
import { ensureDocker } from "../support/hosts/docker.ts";
import { freePort } from "../support/network/free-port.ts";
import { until } from "../support/until.ts";

const isRoot = process.getuid?.() === 0;
const JSON_BODY = { "content-type": "application/json" };
type SimulatedOffer = { readonly machine_id: number; readonly is_simulated: boolean };
const BROWSER_LIMIT_MS = 180_000;

/** Asserts one clear message for a person: it names the mistake, and shows no internals. */
function assertRefused({ code, stdout, stderr }: Ran, expectedCode: number, pattern: RegExp): void {
  const said = `${stdout}${stderr}`.trim();
  assert.equal(code, expectedCode, said);
  assert.match(said, pattern);
  assert.ok(said.split("\n").length <= 2, said);
  assert.doesNotMatch(said, /^\s+at |node:internal|\.ts:\d/m);
}

describe("berth up", () => {
  test("a wrong option is refused with exit code 2 and one line that names it", async () => {
    const mistakes: readonly [readonly string[], RegExp][] = [
      [["--port", "eighty"], /--port.*'eighty'/],
      [["--port", "65536"], /--port.*65535/],
      [["--simulate", "0"], /--simulate/],
      [["--simulate", "many"], /--simulate.*'many'/],
      [["--declare-gpus", "RTX 4090"], /--declare-gpus/],
      [["--simulate", "2", "--no-agent"], /--simulate.*--no-agent/],
      [["--simulate", "2", "--declare-gpus", "RTX 4090:2"], /--declare-gpus/],
      [["--host", ""], /host is empty/],
      [["--nonsense"], /--nonsense/],
    ];
    for (const [args, pattern] of mistakes) assertRefused(await runBerth(["up", ...args]), 2, pattern);
  });

  test("a wrong variable is refused the same way", async () => {
    const dataDir = await aDataDir();
    try {
      const mistakes: readonly [Record<string, string>, RegExp][] = [
        [{ BERTH_PORT: "eighty" }, /BERTH_PORT|--port/],
        [{ BERTH_SIMULATE: "-3" }, /BERTH_SIMULATE|--simulate/],
        [{ BERTH_RATE_LIMITS: "fast" }, /BERTH_RATE_LIMITS/],
        [{ BERTH_RATE_LIMITS: '{"default":{"per_second":0,"burst":1}}' }, /BERTH_RATE_LIMITS.*default/],
        [{ BERTH_LOG_LEVEL: "loud" }, /BERTH_LOG_LEVEL|level/],
      ];
      for (const [variables, pattern] of mistakes) {
        assertRefused(await runBerth(["up", "--data-dir", dataDir], variables), 2, pattern);
      }
    } finally {
      await removeDataDir(dataDir);
    }
  });

  test("a port that is taken is named, and nothing is left running", async (t) => {
    const dataDir = await aDataDir();
    t.after(() => removeDataDir(dataDir));
    const holder = createServer().listen(0, "127.0.0.1");
    t.after(() => holder.close());
    await once(holder, "listening");
    const address = holder.address();
    assert.ok(typeof address === "object" && address !== null);
    const refused = await runBerth(["up", "--no-agent", "--port", String(address.port), "--data-dir", dataDir]);
    assertRefused(refused, 1, new RegExp(`^berth could not start: port ${address.port} of .* is taken.*--port`));
    // It is said before a database is made for nothing.
    assert.equal(existsSync(path.join(dataDir, "postgres")), false);
    const processes = await run("ps", ["-eo", "args"]);
    assert.ok(!processes.stdout.includes(dataDir), "a process of it is left");
  });

  test("a folder, a disk or a database that cannot be had is named in one sentence", async (t) => {
    const dataDir = await aDataDir();
    t.after(() => removeDataDir(dataDir));
    const file = path.join(dataDir, "file");
    await writeFile(file, "");
    assertRefused(await runBerth(["up", "--data-dir", file]), 1, /file is not a folder.*--data-dir/);
    assertRefused(await runBerth(["up", "--data-dir", path.join(file, "below")]), 1, /is not a folder.*--data-dir/);
    const up = ["up", "--no-agent", "--no-console", "--port", "0", "--data-dir", dataDir];
    const databases: readonly [string, number, RegExp][] = [
      ["mysql://root:hidden@127.0.0.1/berth", 2, /^DATABASE_URL must be such as postgresql:/],
      ["postgresql://berth:hidden@127.0.0.1:1/berth", 1, /DATABASE_URL at 127\.0\.0\.1:1: nothing answers there/],
      ["postgresql://berth:hidden@nowhere.invalid/berth", 1, /DATABASE_URL at nowhere\.invalid:5432: no such host/],
    ];
    for (const [DATABASE_URL, code, pattern] of databases) {
      const refused = await runBerth(up, { DATABASE_URL });
      assertRefused(refused, code, pattern);
      assert.ok(!refused.stdout.includes("hidden"));
    }
  });

  test(
    "a disk without room for a database, and a folder that may not be written, are named",
    { skip: !isRoot },
    async (t) => {
      const dataDir = await aDataDir();
      t.after(async () => {
        await run("umount", [dataDir]);
        await removeDataDir(dataDir);
      });
      await run("mount", ["-t", "tmpfs", "-o", "size=20m", "none", dataDir]);
      const up = ["up", "--no-agent", "--no-console", "--port", "0", "--data-dir"];
      const full = await runBerth([...up, dataDir]);
      assertRefused(full, 1, /^berth could not start: the disk of .* has \d+ MB left, and a new database needs 64 MB/);
      await run("chmod", ["700", dataDir]);
      const stranger = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
      const berth = path.join(import.meta.dirname, "../../berth");
      const refused = await run("setpriv", [...stranger, berth, ...up, path.join(dataDir, "new")]);
      assertRefused(refused, 1, /this user may not write .*new: .*--data-dir/);
    },
  );

  test("a variable with a slip is named with the one that was meant, and a closed pipe ends nothing", async (t) => {
    const dataDir = await aDataDir();
    const port = await freePort();
    const child = spawn(path.join(import.meta.dirname, "../../berth"), ["up", "--no-console"], {
      env: cleanEnvironment({
        BERTH_PORT: String(port),
        BERTH_DATA_DIR: dataDir,
        BERTH_SIMULATE: "1",
        BERTH_LEASE_SECOND: "60",
      }),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    t.after(async () => {
      child.kill("SIGKILL");
      await exited;
      await removeDataDir(dataDir);
    });
    const [first] = (await once(child.stdout, "data")) as [Buffer];
    const expected =
      "BERTH_LEASE_SECOND is not a setting of Berth and changes nothing; did you mean BERTH_LEASE_SECONDS?";
    assert.equal(first.toString("utf8").split("\n")[0], expected);
    // The reader is gone long before the last line.
    child.stdout.destroy();
    await until("the server to serve", async () => {
      const ready = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      return ready?.status === 200;
    });
    await until("its host, after which it says that it is ready", async () => {
      const response = await fetch(`http://127.0.0.1:${port}/api/v0/bundles/`, {
        method: "POST",
        body: "{}",
        headers: JSON_BODY,
      });
      return ((await response.json()) as { readonly offers: readonly unknown[] }).offers.length > 0;
    });
    child.kill("SIGTERM");
    assert.deepEqual(await exited, [0, null]);
  });

  test("the environment means the same as the options", async (t) => {
    const dataDir = await aDataDir();
    const port = await freePort();
    const variables = {
      BERTH_PORT: String(port),
      BERTH_HOST: "127.0.0.1",
      BERTH_DATA_DIR: dataDir,
      BERTH_SIMULATE: "2",
    };
    const child = spawn(path.join(import.meta.dirname, "../../berth"), ["up"], {
      env: cleanEnvironment(variables),
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(async () => {
      child.kill("SIGKILL");
      await removeDataDir(dataDir);
    });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
    await until("its last line, which says how to stop it", () => /^ {2}.*Ctrl-C stops the service.*\n/m.test(said));
    const url = `http://127.0.0.1:${port}`;
    assert.match(said, new RegExp(`^ready ${url}$`, "m"));
    // On a slow machine it does not wait for all of its hosts, and says so.
    const market =
      /(\d+) simulated hosts?(?: \((\d+) more are on their way\))? with \d+ GPUs? in \d+ offers?: nothing runs on real machines/;
    const [, connected, coming = "0"] = market.exec(said) ?? [];
    assert.equal(Number(connected) + Number(coming), 2, said);
    await until("offers of two simulated machines", async () => {
      const response = await fetch(`${url}/api/v0/bundles/`, { method: "POST", body: "{}", headers: JSON_BODY });
      const { offers } = (await response.json()) as { readonly offers: readonly SimulatedOffer[] };
      assert.ok(offers.every(({ is_simulated }) => is_simulated));
      const machineIds = new Set(offers.map(({ machine_id }) => machine_id));
      assert.equal(machineIds.size, 2, `there are offers of ${machineIds.size} machines`);
      return true;
    });
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    assert.deepEqual(await exited, [0, null]);
  });
});

describe("a running berth", () => {
  let berth: Berth;
  let key = "";

  before(async () => {
    berth = await startBerth({ args: ["--no-agent"] });
    key = String((await berth.admin("user", "create", "you@example.com", "--credit", "12.50"))["api_key"]);
  });
  after(async () => {
    await discard(berth);
  });

  test("says where it is in one line, and under it what to do next", () => {
    const output = berth.output();
    assert.equal(output.match(/^ready /gm)?.length, 1);
    assert.match(output, new RegExp(`^ready ${berth.url}$`, "m"));
    for (const part of [path.join(berth.dataDir, "admin.key"), "./berth search", `${berth.url}/docs`]) {
      assert.ok(output.includes(part), part);
    }
    assert.ok(!output.includes(berth.adminKey), "the key itself is on the screen");
  });

  test("keeps its secrets in files that only its owner reads", async () => {
    for (const file of ["admin.key", "secret"]) {
      assert.equal((await stat(path.join(berth.dataDir, file))).mode & 0o777, 0o600, file);
    }
    assert.match(await readFile(path.join(berth.dataDir, "admin.key"), "utf8"), /^berth_\S+\n$/);
  });

  test("without an agent there is no offer, and everything else works", async () => {
    const { body } = await berth.call("POST", "/api/v0/bundles/", { body: {} });
    assert.deepEqual(body, { offers: [], matching: 0 });
    assert.deepEqual(await berth.agentPids(), []);
  });

  test("/healthz, /readyz, /openapi.json and /docs are there for anybody", async () => {
    for (const health of ["/healthz", "/readyz"]) {
      const { status, body } = await berth.call("GET", health);
      assert.deepEqual([status, body], [200, { status: "ok" }]);
    }
    const served = await berth.call("GET", "/openapi.json");
    const generated = JSON.parse(await readFile(path.join(import.meta.dirname, "../../server/openapi.json"), "utf8"));
    assert.deepEqual(Object.keys(served.body.paths).toSorted(), Object.keys(generated.paths).toSorted());
    const page = await berth.call("GET", "/docs");
    assert.deepEqual([page.status, page.contentType], [200, "text/html; charset=utf-8"]);
  });

  test("/docs shows each operation in a real browser, without asking anybody else for anything", async () => {
    const ran = await run("timeout", [
      ...[String(BROWSER_LIMIT_MS / 1000), "chromium", "--headless", "--no-sandbox", "--disable-gpu"],
      ...[
        `--user-data-dir=${path.join(berth.dataDir, "browser")}`,
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
      ],
      ...["--dump-dom", `${berth.url}/docs`],
    ]);
    assert.equal(ran.code, 0, ran.stderr);
    const { paths } = (await berth.call("GET", "/openapi.json")).body;
    for (const operationPath of Object.keys(paths)) assert.ok(ran.stdout.includes(operationPath), operationPath);
    assert.doesNotMatch(ran.stdout, /<(script|link|img)[^>]+(src|href)="https?:/);
  });

  test("/metrics speaks Prometheus to an administrator's key only", async () => {
    assert.equal((await berth.call("GET", "/metrics")).status, 401);
    assert.equal((await berth.call("GET", "/metrics", { key })).status, 403);
    const { status, text, contentType } = await berth.call("GET", "/metrics", { key: berth.adminKey });
    assert.equal(status, 200);
    assert.match(contentType, /^text\/plain/);
    assert.match(text, /^berth_http_request_seconds_count\{operation="[a-z._]+",status="200"\} \d+$/m);
  });

  test("each admin command prints exactly one JSON object on one line", async () => {
    const email = "one@example.com";
    const commands: readonly [readonly string[], readonly string[]][] = [
      [
        ["user", "create", email, "--credit", "5"],
        ["id", "email", "api_key"],
      ],
      [
        ["credit", email, "2.25"],
        ["email", "credit"],
      ],
      [
        ["key", "create", email, "--permissions", '{"api":{"user_read":{}}}', "--name", "reader"],
        ["id", "email", "api_key"],
      ],
      [
        ["disk", "create", email, "--size", "100"],
        ["disk_id", "email", "size"],
      ],
    ];
    for (const [args, members] of commands) {
      const { code, stdout, stderr } = await berth.cli("admin", ...args);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, /^\{.*\}\n$/);
      const printed: unknown = JSON.parse(stdout);
      assert.ok(typeof printed === "object" && printed !== null);
      for (const member of members) assert.ok(member in printed, `${args.join(" ")}: ${member}`);
    }
    const wrong: readonly (readonly string[])[] = [
      ["user", "create", email],
      ["user", "create", "no address"],
      ["credit", email, "-1"],
      ["credit", "nobody@example.com", "1"],
      ["key", "create", email, "--permissions", '{"api":{"nothing":{}}}'],
    ];
    for (const args of wrong) {
      const { code, stdout, stderr } = await berth.cli("admin", ...args);
      assert.ok(code === 1 || code === 2, args.join(" "));
      assert.equal(stdout, "", args.join(" "));
      assert.notEqual(stderr, "", args.join(" "));
      assert.doesNotMatch(stderr, /^\s+at /m);
    }
  });

  test("a key with permissions may do what they say", async () => {
    const made = await berth.admin("key", "create", "you@example.com", "--permissions", '{"api":{"user_read":{}}}');
    const reader = String(made["api_key"]);
    assert.equal((await berth.call("GET", "/api/v0/template/", { key: reader })).status, 200);
    assert.equal((await berth.call("POST", "/api/v0/template/", { key: reader, body: {} })).status, 403);
    assert.equal((await berth.call("GET", "/api/v0/instances/", { key: reader })).status, 403);
  });

  test("too many requests are answered in the contract's words, with when to come back", async () => {
    const ask = () => fetch(`${berth.url}/api/v0/users/me/`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal((await ask()).status, 200);
    // How many are too many depends on how fast this machine is.
    const refused = await until("a refusal", async () => {
      const answers = await Promise.all(Array.from({ length: 120 }, ask));
      return answers.find(({ status }) => status === 429);
    });
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    const body = await refused.json();
    assert.ok(typeof body === "object" && body !== null && "detail" in body && typeof body.detail === "string");
    assert.match(body.detail, /too frequent.*threshold=[\d.]+/);
  });
});

describe("berth up --declare-gpus", () => {
  test("offers this machine with GPUs that are marked as declared", async (t) => {
    await ensureDocker();
    const berth = await startBerth({ args: ["--declare-gpus", "RTX 4090:2"] });
    t.after(() => discard(berth));
    const offers = await until("offers with GPUs", async () => {
      const { body } = await berth.call("POST", "/api/v0/bundles/", { body: { num_gpus: { gte: 1 } } });
      return body.offers.length > 0 && body.offers;
    });
    const seen = offers.map(({ gpu_name, num_gpus, gpu_is_declared, is_simulated }: Record<string, unknown>) => ({
      gpu_name,
      num_gpus,
      gpu_is_declared,
      is_simulated,
    }));
    const expected = [1, 2].map((num_gpus) => ({
      gpu_name: "RTX 4090",
      num_gpus,
      gpu_is_declared: true,
      is_simulated: false,
    }));
    for (const offer of expected) {
      assert.ok(
        seen.some((one: object) => JSON.stringify(one) === JSON.stringify(offer)),
        JSON.stringify(seen),
      );
    }
    assert.ok(seen.every((one: { gpu_is_declared: boolean }) => one.gpu_is_declared));
  });
});
