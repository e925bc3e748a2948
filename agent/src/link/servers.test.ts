// Several servers behind one agent: which of them it tries, and what it shows to an address that is not what it seems.
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { parseServerUrl, passText, readPass, type ServerUrls } from "../../../protocol/index.ts";
import { KnownServers } from "./servers.ts";
import { fileServers, type KeptServers, type ServersStore } from "./servers-store.ts";

const HOME = "https://one.example";
const [TWO, THREE] = ["https://two.example", "https://three.example"];
const KEY = createHmac("sha256", "secret").update("7").digest("base64url");
const TOLD = { addresses: [HOME, TWO, THREE], passKey: `7.${KEY}` };

function urlsOf(text: string): ServerUrls {
  return parseServerUrl(text) ?? assert.fail(text);
}

function aStore(): ServersStore {
  let kept: KeptServers | undefined;
  return { load: () => kept, save: (servers) => (kept = servers) };
}

function known(given: Partial<ConstructorParameters<typeof KnownServers>[0]> = {}): KnownServers {
  return new KnownServers({ home: urlsOf(HOME), token: "the-credential", store: aStore(), ...given });
}

/** Numbers that look random and are not. */
function sequence(): () => number {
  let state = 7;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

test("an agent knows the server at which it joined alone, until that one tells it of others", () => {
  const servers = known({ given: [urlsOf(TWO)] });
  assert.deepEqual(servers.candidates(sequence()), [HOME], "there is nothing to show to another one yet");
  servers.learn(TOLD);
  assert.deepEqual([...servers.candidates(sequence())].toSorted(), [HOME, THREE, TWO].toSorted());
});

test("an agent tries each server once before it tries any again", () => {
  const servers = known();
  servers.learn(TOLD);
  const choice = servers.choose(sequence());
  for (let round = 0; round < 3; round += 1) {
    const tried = new Set<string>();
    for (let count = 0; count < 3; count += 1) {
      tried.add(choice.dial().socketUrl);
      choice.next();
    }
    assert.ok(tried.size >= 2 && (round > 0 || tried.size === 3), [...tried].join(" "));
  }
});

test("agents spread themselves over the servers that live, and begin with those before the ones that were", () => {
  const servers = known();
  servers.learn(TOLD);
  servers.hear([TWO, THREE]);
  const random = sequence();
  const counts = new Map<string, number>();
  for (let count = 0; count < 400; count += 1) {
    const [first = ""] = servers.candidates(random);
    counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  assert.deepEqual([...counts.keys()].toSorted(), [THREE, TWO].toSorted());
  assert.ok([...counts.values()].every((count) => count > 100));
  assert.equal(servers.candidates(random).length, 3, "home may be back when those are gone");
});

test("no address but home ever gets the credential, and what another one gets is good there alone", () => {
  const servers = known({ given: [urlsOf("https://mistyped.example")] });
  servers.learn(TOLD);
  assert.equal(servers.bearer(HOME), "the-credential");
  for (const address of [TWO, "https://mistyped.example"]) {
    const shown = servers.bearer(address);
    assert.ok(!shown.includes("the-credential") && !shown.includes(KEY));
    const pass = readPass(shown);
    assert.ok(pass);
    const signatureFor = (one: string) => createHmac("sha256", KEY).update(passText(one)).digest("base64url");
    assert.equal(pass.signature, signatureFor(address));
    for (const other of [HOME, THREE]) assert.notEqual(pass.signature, signatureFor(other), "no other server takes it");
  }
});

test("an address on an open line is left out where home is reached in private", () => {
  const servers = known();
  servers.learn({
    ...TOLD,
    addresses: ["http://two.example", "http://127.0.0.1:1", "ftp://x", "https://u:p@x.example"],
  });
  assert.deepEqual([...servers.candidates(sequence())].toSorted(), ["http://127.0.0.1:1", HOME]);
});

test("addresses that servers told outlive a restart, and an agent of another installation does not take them over", (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-servers-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const store = fileServers(path.join(folder, "servers.json"), (cause) => assert.fail(String(cause)));
  known({ store }).learn(TOLD);
  assert.equal(known({ store }).candidates(sequence()).length, 3);
  const elsewhere = new KnownServers({ home: urlsOf("https://else.example"), token: "x", store });
  assert.deepEqual(elsewhere.candidates(sequence()), ["https://else.example"]);
});

test("a server at a mistyped address hears no word: it has no proof, and a relayed one is of another address", () => {
  const servers = known();
  servers.learn(TOLD);
  const choice = servers.choose(() => 0.5);
  while (choice.dial().socketUrl !== "wss://two.example/agent") choice.next();
  const { headers, isAnsweredBy } = choice.dial();
  const challenge = headers["berth-challenge"] ?? "";
  const proofOf = (address: string, key = KEY) =>
    createHmac("sha256", key).update(`berth pass of the server\n${address}\n${challenge}`).digest("base64url");
  assert.equal(isAnsweredBy(undefined), false);
  assert.equal(isAnsweredBy(proofOf(TWO, randomBytes(32).toString("base64url"))), false);
  assert.equal(isAnsweredBy(proofOf(THREE)), false, "a real server proves its own address alone");
  assert.equal(isAnsweredBy(proofOf(TWO)), true);
  const { isAnsweredBy: later } = choice.dial();
  assert.equal(later(proofOf(TWO)), false, "an answer is good for one challenge");
});
