// Builds the console into console/dist: `node console/build.ts`. With --if-changed it does nothing when the sources are
// those of the last build. The build is complete at every moment: new files come first, then the page that names them.
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "vite";
import { helpChunks } from "./help-chunks.ts";

const CONSOLE = import.meta.dirname;
const ROOT = path.join(CONSOLE, "..");
const DIST = path.join(CONSOLE, "dist");
/** The record of the last build: the hash of its sources, and its files. */
const RECORD = "build.json";
/** The word in the page that the server replaces with a fresh nonce in every answer. */
const NONCE_PLACE = "BERTH_NONCE";
/** Brotli bytes of scripts and styles that the first page may load. */
const FIRST_LOAD_BYTES_MAX = 200_000;
/** The oldest browsers that the console is for: those that know `light-dark()`. */
const BROWSERS = ["chrome123", "firefox120", "safari17.5"];
/** Vite's list of the files of each source. */
const MANIFEST = "manifest.json";
/** The pages that most visits begin with, by the first part of their path: their code is fetched beside that of the frame. */
const FIRST_PAGES: Readonly<Record<string, string>> = {
  market: "src/pages/market/Market.tsx",
  instances: "src/pages/instances/Instances.tsx",
};
const COMPRESSED = /\.(?:js|css|svg)$/;

type BuildRecord = { readonly sources: string; readonly files: readonly string[]; readonly firstLoadBytes: number };

/** The hash of everything that the build depends on. */
function hashSources(): string {
  const files = globSync(["src/**/*", "early/*", "public/**/*", "index.html", "*.ts", "tsconfig.json"], {
    cwd: CONSOLE,
  });
  const sdk = globSync("sdk/src/*.ts", { cwd: ROOT, exclude: ["**/*.test.ts"] });
  const docs = globSync("docs/*.md", { cwd: ROOT });
  const all = [...files.map((file) => `console/${file}`), ...sdk, ...docs, "README.md", "package-lock.json"].toSorted();
  const hash = createHash("sha256");
  for (const file of all) {
    if (!/\.\w+$/.test(file)) continue; // A folder.
    hash.update(`${file}\0`).update(readFileSync(path.join(ROOT, file)));
  }
  return hash.digest("hex");
}

async function readRecord(): Promise<BuildRecord | undefined> {
  const text = await readFile(path.join(DIST, RECORD), "utf8").catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Puts a compressed copy beside every file of the build but the page, which differs in each answer. */
async function precompress(folder: string): Promise<void> {
  for (const name of globSync("**/*", { cwd: folder })) {
    if (!COMPRESSED.test(name)) continue;
    const file = path.join(folder, name);
    await writeFile(`${file}.br`, compress(await readFile(file)));
  }
}

function compress(source: Uint8Array): Uint8Array {
  return brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
}

type Manifest = Readonly<
  Record<string, { readonly file: string; readonly imports?: readonly string[]; readonly css?: readonly string[] }>
>;

/**
 * Adds the script that runs before that of the console (early/script.js): it asks who the person is, and fetches the code of
 * the page, while the console's own code is on its way.
 */
async function addEarlyScript(folder: string): Promise<void> {
  const manifest: Manifest = JSON.parse(await readFile(path.join(folder, MANIFEST), "utf8"));
  const filesOf = (source: string, known = new Set<string>()): ReadonlySet<string> => {
    const entry = manifest[source];
    if (entry === undefined || known.has(`/${entry.file}`) || source === "index.html") return known;
    for (const file of [entry.file, ...(entry.css ?? [])]) known.add(`/${file}`);
    for (const other of entry.imports ?? []) filesOf(other, known);
    return known;
  };
  const pages = Object.entries(FIRST_PAGES).map(([area, source]) => [area, [...filesOf(source)]]);
  const template = await readFile(path.join(CONSOLE, "early/script.js"), "utf8");
  const script = template.replace('"BERTH_PAGES"', JSON.stringify(Object.fromEntries(pages)));
  const name = `early-${createHash("sha256").update(script).digest("base64url").slice(0, 8)}.js`;
  await writeFile(path.join(folder, "assets", name), script);
  const page = path.join(folder, "index.html");
  const html = await readFile(page, "utf8");
  const tag = `<script async src="/assets/${name}" nonce="${NONCE_PLACE}"></script>`;
  await writeFile(page, html.replace('<script type="module"', `${tag}\n    <script type="module"`));
  await rm(path.join(folder, MANIFEST));
}

/** Brotli bytes of the scripts and styles that the page names itself, so that every visitor loads them. */
function firstLoadBytes(folder: string, page: string): number {
  const names = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name = ""]) => name);
  return names
    .map((name) => readFileSync(path.join(folder, `${name}.br`)).length)
    .reduce((sum, bytes) => sum + bytes, 0);
}

/** Throws when a source uses a component of Mantine whose styles mantine.css does not have. */
function requireStyles(): void {
  const sheet = readFileSync(path.join(CONSOLE, "src/mantine.css"), "utf8");
  for (const file of globSync("src/**/*.tsx", { cwd: CONSOLE })) {
    const imports = readFileSync(path.join(CONSOLE, file), "utf8").matchAll(
      /import \{([^}]*)\} from "@mantine\/core"/g,
    );
    for (const [name] of [...imports].flatMap(([, names = ""]) => [...names.matchAll(/\b[A-Z]\w*/g)])) {
      const style = `@mantine/core/styles/${name}.layer.css`;
      if (!existsSync(path.join(ROOT, "node_modules", style)) || sheet.includes(style)) continue;
      throw new Error(`${file} uses ${name}: import "${style}" in src/mantine.css`);
    }
  }
}

async function buildInto(outDir: string): Promise<void> {
  await build({
    configFile: false,
    root: CONSOLE,
    logLevel: "error",
    plugins: [helpChunks()],
    html: { cspNonce: NONCE_PLACE },
    build: {
      outDir,
      target: BROWSERS,
      // A file in an address would need data: in the policy of the page.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      manifest: MANIFEST,
      rolldownOptions: {
        output: {
          // A browser asks for six files at a time, so what every page needs are few files.
          codeSplitting: {
            groups: [
              { name: "console", tags: ["$initial"], priority: 2 },
              { name: "parts", minShareCount: 8, priority: 1 },
            ],
          },
        },
      },
      reportCompressedSize: false,
    },
  });
}

/** Puts a finished build in the place of the last one, whose files stay for pages that are open. */
async function publish(folder: string, sources: string): Promise<BuildRecord> {
  const last = await readRecord();
  const page = await readFile(path.join(folder, "index.html"), "utf8");
  const files = (await readdir(path.join(folder, "assets"))).toSorted();
  const record = { sources, files, firstLoadBytes: firstLoadBytes(folder, page) };
  for (const name of await readdir(folder)) {
    if (name !== "index.html") await cp(path.join(folder, name), path.join(DIST, name), { recursive: true });
  }
  await cp(path.join(folder, "index.html"), path.join(DIST, "index.html.new"));
  await rename(path.join(DIST, "index.html.new"), path.join(DIST, "index.html"));
  await writeFile(path.join(DIST, `${RECORD}.new`), JSON.stringify(record));
  await rename(path.join(DIST, `${RECORD}.new`), path.join(DIST, RECORD));
  const kept = new Set([...files, ...(last?.files ?? [])]);
  for (const name of await readdir(path.join(DIST, "assets"))) {
    if (!kept.has(name)) await rm(path.join(DIST, "assets", name), { force: true });
  }
  return record;
}

async function main(isOnlyIfChanged: boolean): Promise<void> {
  const sources = hashSources();
  if (isOnlyIfChanged && (await readRecord())?.sources === sources) return;
  requireStyles();
  process.stdout.write("Building the console…\n");
  const folder = await mkdtemp(path.join(CONSOLE, ".build-"));
  try {
    await buildInto(folder);
    await addEarlyScript(folder);
    await precompress(folder);
    const record = await publish(folder, sources);
    process.stdout.write(`The console is built (${Math.round(record.firstLoadBytes / 1000)} kB at the first visit).\n`);
    if (record.firstLoadBytes > FIRST_LOAD_BYTES_MAX) {
      throw new Error(
        `the first visit loads ${record.firstLoadBytes} bytes; at most ${FIRST_LOAD_BYTES_MAX} are allowed`,
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main(process.argv.includes("--if-changed"));
