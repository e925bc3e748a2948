import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../support/app.ts";
import { builtConsole } from "../support/console/built-console.ts";

test("the console is served with a policy that lets only its own files run", async (t) => {
  const app = await testApp(t, { console: await builtConsole() });
  const page = await app.call({ url: "/instances/7/logs" });
  assert.equal(page.status, 200);
  assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
  assert.equal(page.headers["cache-control"], "no-cache");
  const policy = String(page.headers["content-security-policy"]);
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w-]{22}'; connect-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|https?:/);
  const again = await app.call({ url: "/" });
  assert.notEqual(again.headers["content-security-policy"], policy, "a nonce is used once");
  assert.doesNotMatch(page.text, /<script(?![^>]* src="\/assets\/)|<style|https?:\/\/|BERTH_NONCE/);

  const names = [...page.text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, name = ""]) => name);
  assert.ok(names.length >= 2, page.text);
  const bytes = { plain: 0, compressed: 0 };
  for (const url of names) {
    const file = await app.call({ url, headers: { "accept-encoding": "gzip, br" } });
    assert.equal(file.status, 200);
    assert.equal(file.headers["content-encoding"], "br");
    assert.equal(file.headers["cache-control"], "public, max-age=31536000, immutable");
    const plain = await app.call({ url });
    assert.equal(plain.headers["content-encoding"], undefined);
    bytes.plain += plain.bytes.length;
    bytes.compressed += file.bytes.length;
  }
  assert.ok(bytes.plain > 3 * bytes.compressed, JSON.stringify(bytes));
});

test("paths that are not the console's answer as they did", async (t) => {
  const app = await testApp(t, { console: await builtConsole() });
  const html = { accept: "text/html,application/xhtml+xml" };
  for (const url of ["/api/v0/nonsense/", "/assets/index.html", "/assets/%2e%2e%2fbuild.json"]) {
    const { status, headers } = await app.call({ url, headers: html });
    assert.equal(status, 404, url);
    assert.equal(headers["content-type"], "application/json", url);
  }
  const program = await app.call({ url: "/nonsense" });
  assert.deepEqual([program.status, program.body.error], [404, "not_found"]);
  const browser = await app.call({ url: "/nonsense", headers: html });
  assert.deepEqual([browser.status, browser.headers["content-type"]], [404, "text/html; charset=utf-8"]);
  const wrongMethod = await app.call({ method: "PUT", url: "/healthz", headers: html });
  assert.equal(wrongMethod.status, 405);
});

test("without a build the console says how to make one, and while one runs it waits for it", async (t) => {
  const none = await testApp(t);
  const page = await none.call({ url: "/" });
  assert.equal(page.status, 503);
  assert.match(page.text, /console\/build\.ts/);
  const building = await testApp(t, { console: { folder: "/nonexistent", isBuilding: () => true } });
  const waiting = await building.call({ url: "/market" });
  assert.deepEqual([waiting.status, waiting.headers["refresh"]], [200, "2"]);
  assert.match(waiting.text, /is being built/);
});
