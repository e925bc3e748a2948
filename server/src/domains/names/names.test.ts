// Certificates of a real ACME authority, ordered, kept and served by servers over one database.
import assert from "node:assert/strict";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import https from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";
import tls from "node:tls";
import { testApp, type TestApp } from "../../../../test/support/app.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { freePort } from "../../../../test/support/network/free-port.ts";
import { startPebble, type Pebble } from "../../../../test/support/network/pebble.ts";
import { aSelfSignedCertificate } from "../../../../test/support/network/self-signed.ts";
import { until } from "../../../../test/support/until.ts";
import { startTls } from "../../assembly/start-tls.ts";
import type { TlsSettings } from "../../assembly/names-settings.ts";
import { CERTIFICATES_LOOP } from "./loops.ts";

const DAY_MS = 86_400_000;
const HOST = "127.0.0.1";

type Answer = { readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly text: string };

/** A request to a port of the loopback, by a client that asks for a name and trusts this root. */
function get(port: number, servername: string, ca: string, place = "/healthz"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { host: servername, connection: "close" };
    https
      .get({ host: HOST, port, path: place, servername, ca, agent: false, headers }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => void parts.push(part));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(parts).toString(),
          }),
        );
      })
      .on("error", reject);
  });
}

/** The serial number of the certificate that a client gets. */
async function serialOf(port: number, servername: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: HOST, port, servername, ca }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

/** Runs the loop and lets its order come to an end: the clock of the test moves the questions to the authority. */
async function order({ app, clock, runLoop }: TestApp): Promise<void> {
  await runLoop(CERTIFICATES_LOOP);
  let isOver = false;
  void app.names?.idle().then(() => (isOver = true));
  await until("the order to be over", () => {
    clock.advance(500);
    return isOver;
  });
}

describe("certificates of names", () => {
  let pebble: Pebble;
  before(async () => {
    pebble = await startPebble();
  });
  after(() => pebble.stop());

  const settingsOf = (domain: string, more: Partial<TlsSettings> = {}): TlsSettings => ({
    domain,
    host: HOST,
    httpsPort: 0,
    httpPort: undefined,
    url: `https://${domain}`,
    wanted: [{ name: domain, challenge: "http-01" }],
    acme: { directoryUrl: pebble.directoryUrl, email: "ops@example.com", externalAccount: undefined },
    dnsHook: undefined,
    files: [],
    ...more,
  });

  /** A server with its port of TLS. Its loops run when the test runs them. */
  async function aServer(t: TestContext, settings: TlsSettings, options: Parameters<typeof testApp>[1] = {}) {
    const world = await testApp(t, { clock: new ManualClock(Date.now()), ...options, tls: settings });
    const port = await freePort();
    const front = await startTls(
      { tls: { ...settings, httpsPort: port }, portNames: undefined, host: HOST },
      { ...world.app, loops: { wake: () => {} } },
    );
    t.after(() => front.close());
    return { world, port };
  }

  test("one of two servers orders, the other one answers the challenge, both serve, and the certificate is renewed", async (t) => {
    const domain = "gpu.example.com";
    const one = await aServer(t, settingsOf(domain), { dataDirKey: "one" });
    const { env, clock } = one.world;
    const two = await aServer(t, settingsOf(domain, { httpPort: pebble.httpPort }), { env, clock, dataDirKey: "two" });
    await assert.rejects(get(one.port, domain, pebble.rootPem), "there is no certificate to serve yet");
    const ready = async ({ world }: typeof one) => (await world.call({ method: "GET", url: "/readyz" })).body;
    assert.deepEqual((await ready(one)).warnings, [`there is no certificate for ${domain} yet`]);

    await order(one.world);
    const answer = await get(one.port, domain, pebble.rootPem);
    assert.deepEqual([answer.status, answer.headers["strict-transport-security"]], [200, "max-age=31536000"]);
    await two.world.runLoop(CERTIFICATES_LOOP);
    const first = await serialOf(one.port, domain, pebble.rootPem);
    assert.equal(await serialOf(two.port, domain, pebble.rootPem), first, "both serve the same one");
    assert.deepEqual([(await ready(one)).warnings, (await ready(two)).warnings], [undefined, undefined]);

    await t.test("other names and old TLS are refused, and plain HTTP leads to HTTPS", async () => {
      await assert.rejects(get(one.port, "other.example.com", pebble.rootPem), /altnames/i);
      await assert.rejects(
        new Promise((resolve, reject) => {
          tls
            .connect(
              {
                host: HOST,
                port: one.port,
                servername: domain,
                ca: pebble.rootPem,
                maxVersion: "TLSv1.1",
                minVersion: "TLSv1",
              },
              () => resolve(1),
            )
            .on("error", reject);
        }),
      );
      const plain = (method: string, place: string) =>
        fetch(`http://${HOST}:${pebble.httpPort}${place}`, { method, redirect: "manual" });
      const led = await plain("GET", "/instances?x=1");
      assert.deepEqual([led.status, led.headers.get("location")], [308, `https://${domain}:${two.port}/instances?x=1`]);
      assert.equal((await plain("PUT", "/api/v0/asks/1/")).status, 400);
      assert.equal((await plain("GET", "/.well-known/acme-challenge/unknown")).status, 404);
    });

    await t.test("nothing is ordered while two thirds of the lifetime are not over", async () => {
      clock.jump(DAY_MS);
      await order(one.world);
      assert.equal(await serialOf(one.port, domain, pebble.rootPem), first);
    });

    let second = "";
    await t.test("an order that is due replaces it on both servers", async () => {
      // The authority's own clock does not move: only the moment of the order does.
      await env.pool.query("update served_certificates set order_at = $1", [clock.now()]);
      await order(two.world);
      await one.world.runLoop(CERTIFICATES_LOOP);
      second = await serialOf(one.port, domain, pebble.rootPem);
      assert.notEqual(second, first);
      assert.equal(await serialOf(two.port, domain, pebble.rootPem), second);
      assert.equal((await env.pool.query("select from acme_accounts")).rowCount, 1, "both use one account");
      assert.equal((await env.pool.query("select from acme_challenges")).rowCount, 0, "answers are taken away");
      const { rows } = await env.pool.query(
        "select encrypted_key from served_certificates union select encrypted_key from acme_accounts",
      );
      for (const { encrypted_key: key } of rows) assert.match(key, /^sealed1:/);
    });

    await t.test("a failed renewal leaves the certificate, is said, and is tried again later", async () => {
      const { rows } = await env.pool.query("select issued_at, expires_at, order_at from served_certificates");
      clock.jump(rows[0].order_at.getTime() - clock.now().getTime());
      await pebble.pointNamesTo("127.0.0.2");
      await order(one.world);
      assert.equal(await serialOf(one.port, domain, pebble.rootPem), second);
      const [failed] = (await env.pool.query("select failure_count, problem, order_at from served_certificates")).rows;
      assert.equal(failed.failure_count, 1);
      assert.match(failed.problem, /could not check gpu\.example\.com: .*refused/);
      assert.ok(failed.order_at > clock.now(), "it waits");
      const lifetimeMs = rows[0].expires_at.getTime() - rows[0].issued_at.getTime();
      clock.jump(rows[0].expires_at.getTime() - lifetimeMs / 10 - clock.now().getTime());
      await one.world.runLoop(CERTIFICATES_LOOP);
      const [warning] = (await ready(one)).warnings;
      assert.match(
        warning,
        /^the certificate for gpu\.example\.com ends on .* UTC and has not been renewed \(.*refused/,
      );
      let isOver = false;
      void one.world.app.names?.idle().then(() => (isOver = true));
      await until("the second failure", () => (clock.advance(500), isOver));
      await pebble.pointNamesTo(HOST);
    });
  });

  test("a name with a star gets its certificate by a record that the operator's program sets", async (t) => {
    const domain = "ports.example.com";
    const settings = settingsOf(domain, {
      wanted: [
        { name: domain, challenge: "dns-01" },
        { name: `*.${domain}`, challenge: "dns-01" },
      ],
      dnsHook: pebble.dnsHook,
    });
    const { world, port } = await aServer(t, settings);
    await order(world);
    await order(world);
    assert.equal((await get(port, `7-8080.${domain}`, pebble.rootPem)).status, 200);
    assert.equal((await get(port, domain, pebble.rootPem)).status, 200);
    await assert.rejects(get(port, `a.b.${domain}`, pebble.rootPem), /altnames/i);
  });

  test("a name that the authority refuses has no certificate, and its reason is said", async (t) => {
    const settings = settingsOf("gpu.blocked.example", { httpPort: pebble.httpPort });
    const { world } = await aServer(t, settings);
    await order(world);
    const { body } = await world.call({ method: "GET", url: "/readyz" });
    assert.equal(body.status, "ok", "servers serve their other ports");
    assert.match(body.warnings[0], /^there is no certificate for gpu\.blocked\.example yet \(.*(policy|forbid|block)/i);
  });

  test("files of the operator are served without an authority, and read again when they change", async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), "berth-tls-files-"));
    t.after(() => rm(folder, { recursive: true }));
    const [certificate, key] = [path.join(folder, "chain.pem"), path.join(folder, "key.pem")];
    const domain = "own.example.com";
    const [first, second] = [aSelfSignedCertificate(domain), aSelfSignedCertificate(domain)];
    await writeFile(certificate, first.cert);
    await writeFile(key, first.key);
    const settings = settingsOf(domain, { acme: undefined, files: [{ certificate, key }] });
    const { world, port } = await aServer(t, settings);
    assert.equal((await get(port, domain, first.cert)).status, 200);

    await writeFile(`${certificate}.new`, second.cert);
    await copyFile(`${certificate}.new`, certificate);
    await world.runLoop(CERTIFICATES_LOOP);
    assert.equal((await get(port, domain, first.cert)).status, 200, "a half change changes nothing");
    const { body } = await world.call({ method: "GET", url: "/readyz" });
    assert.deepEqual(body.warnings, [
      `the certificate in ${certificate} cannot be used: the key does not belong to the certificate`,
    ]);

    await writeFile(key, second.key);
    await world.runLoop(CERTIFICATES_LOOP);
    assert.equal((await get(port, domain, second.cert)).status, 200);
    await assert.rejects(get(port, domain, first.cert));
  });
});
