import assert from "node:assert/strict";
import { createHash, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { releaseText, type AgentRelease } from "../../../protocol/index.ts";
import { silentLog } from "../base/log.ts";
import { ReleaseKey } from "./release-key.ts";
import { Updater, type Offer } from "./updater.ts";

const HOME = "https://home.example";
const FILES = [{ path: "agent/src/main.ts", base64: Buffer.from("console.log(1);").toString("base64") }];

function textOf(key: KeyObject): string {
  return createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32).toString("base64url");
}

function archiveOf(files: readonly { readonly path: string; readonly base64: string }[] = FILES): Buffer {
  return gzipSync(JSON.stringify({ files }));
}

function releaseOf(
  archive: Buffer,
  { key, version = "2.0.0" }: { readonly key: KeyObject; readonly version?: string },
) {
  const said = { version, bytes: archive.length, sha256: createHash("sha256").update(archive).digest("hex") };
  return { ...said, signature: sign(undefined, Buffer.from(releaseText(said)), key).toString("base64url") };
}

/** An agent of version 1.5.0 that has the key of its installation, and a server that sends it this archive. */
function world(t: TestContext, sent: Buffer | number) {
  const stateDir = mkdtempSync(path.join(tmpdir(), "berth-updater-"));
  t.after(() => rmSync(stateDir, { recursive: true, force: true }));
  const { privateKey: key } = generateKeyPairSync("ed25519");
  const asked: string[] = [];
  const started: unknown[] = [];
  const refused: string[] = [];
  const releaseKey = new ReleaseKey(stateDir, HOME);
  const updater = new Updater({
    ...{ stateDir, ownVersion: "1.5.0", key: releaseKey, last: undefined, log: silentLog },
    fetch: async (url) => {
      asked.push(String(url));
      return typeof sent === "number" ? new Response("", { status: sent }) : new Response(new Uint8Array(sent));
    },
    clock: { sleep: async () => undefined },
    startNext: (next) => void started.push(next),
    refused: ({ result }) => void refused.push(`${result.version}: ${result.problem}`),
  });
  const offer = (release: AgentRelease | undefined, more: Partial<Offer> = {}) =>
    updater.offer({ release, releaseKey: textOf(key), isHome: true, apiUrl: HOME, ...more });
  return { stateDir, key, updater, offer, asked, started, refused };
}

test("a release that the installation signed is unpacked beside the running version, and asked to be started", async (t) => {
  const archive = archiveOf();
  const { stateDir, key, offer, asked, started, refused } = world(t, archive);
  const release = releaseOf(archive, { key });
  await offer(release);
  assert.deepEqual(asked, [`${HOME}/agent/releases/${release.sha256}`]);
  assert.deepEqual(started, [{ version: "2.0.0", sha256: release.sha256 }]);
  assert.deepEqual(refused, []);
  const file = path.join(stateDir, "versions", release.sha256, "agent/src/main.ts");
  assert.equal(readFileSync(file, "utf8"), "console.log(1);");
  assert.equal(statSync(file).mode & 0o077, 0, "only its owner reads it");
});

test("a release that another key signed is refused before anything is fetched, and not asked for again", async (t) => {
  const archive = archiveOf();
  const { offer, asked, started, refused, updater, key } = world(t, archive);
  await offer(undefined);
  const { privateKey: other } = generateKeyPairSync("ed25519");
  const forged = releaseOf(archive, { key: other });
  // A server that lies about the release lies about the key as well.
  await offer(forged, { releaseKey: textOf(other) });
  await offer(forged);
  for (const changed of [{ bytes: 1 }, { version: "2.0.1" }, { signature: "" }, { signature: "A".repeat(86) }]) {
    await offer({ ...releaseOf(archive, { key }), ...changed, sha256: "0".repeat(64) });
  }
  assert.deepEqual([asked, started], [[], []]);
  assert.deepEqual(
    new Set(refused.map((line) => line.replace(/^2\.0\.\d: /, ""))),
    new Set(["the key of this installation did not sign it"]),
  );
  assert.equal(refused.length, 2, "the same archive is refused once");
  assert.equal(updater.result?.outcome, "refused");
});

test("another server than home teaches no key, and without a key nothing is taken", async (t) => {
  const archive = archiveOf();
  const { key, offer, asked, refused } = world(t, archive);
  await offer(releaseOf(archive, { key }), { isHome: false });
  assert.deepEqual([asked, refused], [[], ["2.0.0: this agent has no key of its installation yet"]]);
});

test("an older version is refused although it is signed, and the own one is no news", async (t) => {
  const archive = archiveOf();
  const { key, offer, asked, refused } = world(t, archive);
  await offer(releaseOf(archive, { key, version: "1.5.0" }));
  await offer(releaseOf(archive, { key, version: "1.4.9" }));
  assert.deepEqual([asked, refused], [[], ["1.4.9: it is older than 1.5.0, which runs here"]]);
});

test("a download that is not what was signed is refused, and leaves nothing behind", async (t) => {
  const archive = archiveOf();
  for (const sent of [archive.subarray(1), Buffer.concat([archive, archive]), Buffer.from("no archive at all")]) {
    const { stateDir, key, offer, started, refused } = world(t, sent);
    await offer(releaseOf(archive, { key }));
    assert.deepEqual([started, refused], [[], ["2.0.0: the download is not what was signed"]]);
    assert.equal(existsSync(path.join(stateDir, "versions")), false);
  }
});

test("a server that does not answer, and a path that leads out of the archive, change nothing and are tried again", async (t) => {
  const gone = world(t, 404);
  const archive = archiveOf();
  const release = releaseOf(archive, { key: gone.key });
  await gone.offer(release);
  await gone.offer(release);
  assert.deepEqual([gone.asked.length, gone.started, gone.refused], [20, [], []]);
  const evil = archiveOf([{ path: "../../outside", base64: "" }]);
  const { stateDir, key, offer, started } = world(t, evil);
  await offer(releaseOf(evil, { key }));
  assert.deepEqual(started, []);
  assert.equal(existsSync(path.join(stateDir, "outside")), false);
});
