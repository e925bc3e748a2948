// The packages of the command and of the SDK, installed into empty folders without a network, against a running server.
import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { discard, run, runBerth, startBerth, untilOffered, type Berth, type Ran } from "../support/berth.ts";
import { until } from "../support/until.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const COMPILER = path.join(ROOT, "node_modules/.bin/tsc");
/** Files and folders that a package is made from; the rest of the repository is not needed. */
const SOURCES = [
  "berth",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "LICENSE",
  "sdk",
  "cli",
  "worker",
  "tools",
];

type Manifest = { readonly version: string; readonly type: string };

async function listTar(file: string): Promise<readonly string[]> {
  const { code, stdout, stderr } = await run("tar", ["-tzf", file]);
  assert.equal(code, 0, stderr);
  return stdout.split("\n").toSorted();
}

describe("packages of the command and the SDK", () => {
  let [top, command, commandFile, sdk, sdkFile] = ["", "", "", "", ""];
  let environment: NodeJS.ProcessEnv = {};
  let berth: Berth;

  /** Only what every person with Node has: no variable of this checkout, and an empty home and cache. */
  const start = (program: string, ...args: readonly string[]): Promise<Ran> => run(program, args, environment);
  const node = (...args: readonly string[]): Promise<Ran> => start(process.execPath, ...args);
  const installed = (...args: readonly string[]): Promise<Ran> =>
    start(path.join(command, "node_modules/.bin/berth"), ...args);

  async function install(file: string): Promise<string> {
    const folder = path.join(top, `empty-${path.basename(file)}`);
    await mkdir(folder);
    const { code, stderr } = await start("npm", "install", "--offline", "--no-audit", "--prefix", folder, file);
    assert.equal(code, 0, stderr);
    return folder;
  }

  before(async () => {
    top = await mkdtemp(path.join(await realpath(tmpdir()), "berth-packages-"));
    const system = (process.env["PATH"] ?? "").split(":").filter((folder) => !folder.includes("node_modules"));
    const PATH = [path.dirname(process.execPath), ...system].join(":");
    environment = { PATH, HOME: top, npm_config_cache: path.join(top, "cache") };
    const made = await runBerth(["package", top]);
    assert.equal(made.code, 0, made.stderr);
    const files = made.stdout.trim().split("\n");
    assert.deepEqual(
      files.map((file) => path.basename(file).replace(/-\d.*/, "")),
      ["berth-sdk", "berth-cli"],
    );
    [sdkFile = "", commandFile = ""] = files;
    sdk = await install(sdkFile);
    command = await install(commandFile);
    berth = await startBerth({ args: ["--simulate", "2"] });
    await untilOffered(berth, 2);
    const { api_key: key } = await berth.admin("user", "create", "you@example.com", "--credit", "25");
    environment = { ...environment, BERTH_URL: berth.url, BERTH_API_KEY: String(key) };
  });
  after(async () => {
    await discard(berth);
    await rm(top, { recursive: true });
  });

  test("the command rents, shows and destroys, and says the version of Berth", async () => {
    const { version } = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")) as Manifest;
    assert.deepEqual(await installed("--version"), { code: 0, signal: null, stdout: `${version}\n`, stderr: "" });
    const found = await installed("search", "--json", "--limit", "1");
    assert.equal(found.stderr, "");
    const { offers } = JSON.parse(found.stdout) as { readonly offers: readonly { readonly id: number }[] };
    const [offer] = offers;
    const rented = await installed("rent", String(offer?.id), "--image", "ubuntu:24.04", "--disk", "10");
    assert.equal(rented.code, 0, rented.stderr);
    const [, id = ""] = /Instance (\d+)/.exec(rented.stdout) ?? [];
    await until("the instance runs", async () => /status +running/.test((await installed("show", id)).stdout));
    assert.equal((await installed("destroy", id)).code, 0);
  });

  test("the command is the client and the worker; what else needs a checkout says so and is not in its help", async () => {
    for (const args of [["up"], ["agent", "--help"], ["agent", "install", "--server", "http://127.0.0.1:1"]]) {
      const { code, stdout, stderr } = await installed(...args);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, /needs a checkout of Berth/);
    }
    const { stdout: help } = await installed("--help");
    assert.match(help, /client alone/);
    assert.doesNotMatch(help, /^ {2}bench/m);
    assert.equal((await installed("worker", "--help")).code, 0);
  });

  test("the examples of the SDK run as they stand in its package", async () => {
    const examples = path.join(sdk, "node_modules/berth-sdk/examples");
    assert.deepEqual((await readdir(examples)).toSorted(), ["rent.js", "search.js"]);
    // They are copied, as people do who change them.
    for (const name of ["rent.js", "search.js"]) await cp(path.join(examples, name), path.join(sdk, name));
    await writeFile(path.join(sdk, "package.json"), JSON.stringify({ type: "module" }));
    const searched = await node(path.join(sdk, "search.js"), "1");
    assert.deepEqual([searched.code, searched.stderr], [0, ""]);
    assert.match(searched.stdout, /^\d+ {2}\d+x .* \$\d+\.\d{4}\/h \(simulated\)$/m);
    const rented = await node(path.join(sdk, "rent.js"));
    assert.deepEqual([rented.code, rented.stderr], [0, ""]);
    assert.match(rented.stdout, /Instance \d+ runs\.\nInstance \d+ is destroyed\.\n$/);
  });

  test("programs in TypeScript get the types of the SDK, and a mistake is found by them", async () => {
    const program = (field: string) => `
      import { ApiError, createClient, offerSearch, type Offer } from "berth-sdk";
      const client = createClient({ baseUrl: "http://127.0.0.1:8080" });
      const { offers } = await offerSearch(client, { body: { limit: 1 } });
      export const price: number | undefined = offers.map((offer: Offer) => offer.${field})[0];
      export const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.code === "no_such_ask";
    `;
    const compilerOptions = { strict: true, noEmit: true, target: "es2022", module: "nodenext", types: [] };
    const lib = ["es2022", "dom"];
    await writeFile(
      path.join(sdk, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...compilerOptions, lib }, files: ["program.mts"] }),
    );
    await writeFile(path.join(sdk, "program.mts"), program("dph_total"));
    assert.deepEqual(await start(COMPILER, "-p", sdk), { code: 0, signal: null, stdout: "", stderr: "" });
    await writeFile(path.join(sdk, "program.mts"), program("gpu_name"));
    assert.match((await start(COMPILER, "-p", sdk)).stdout, /Type 'string' is not assignable/);
  });

  test("`npm pack` in the folder of a package makes the same files, and leaves nothing there", async () => {
    const copy = path.join(top, "checkout");
    await mkdir(copy);
    for (const name of SOURCES) await cp(path.join(ROOT, name), path.join(copy, name), { recursive: true });
    await symlink(path.join(ROOT, "node_modules"), path.join(copy, "node_modules"));
    for (const [room, file] of [
      ["sdk", sdkFile],
      ["cli", commandFile],
    ] as const) {
      const folder = path.join(copy, room);
      const before = await readdir(folder);
      const packed = await start("sh", "-c", 'cd "$1" && npm pack --pack-destination ..', "sh", folder);
      assert.equal(packed.code, 0, packed.stderr);
      assert.deepEqual(await readdir(folder), before);
      assert.deepEqual(await listTar(path.join(copy, path.basename(file))), await listTar(file));
    }
  });
});
