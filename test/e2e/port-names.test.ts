// Host names of instances' ports, over TLS and behind a proxy, to programs in real containers; and a port for UDP.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import { after, before, describe, test } from "node:test";
import { docker } from "../support/hosts/docker.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { freePort } from "../support/network/free-port.ts";
import { aSelfSignedCertificate } from "../support/network/self-signed.ts";
import { aRenter, type Renter, type Shown } from "../support/renter.ts";
import { until } from "../support/until.ts";

const HOST = "127.0.0.1";
const IMAGE = "berth-test/dns:1";
const CONSOLE_NAME = "gpu.example.test";
const PORTS_DOMAIN = "ports.example.test";
/** Answers any upgrade, and then repeats what it hears. */
const ECHO = `while read -r line; do [ "\${#line}" -le 1 ] && break; done
printf 'HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n'
exec cat`;

type Answer = { readonly status: number; readonly text: string; readonly headers: http.IncomingHttpHeaders };

describe("names of ports", () => {
  let machine: ThisMachine;
  let renter: Renter;
  let instance: Shown & { readonly port_urls: Readonly<Record<string, string>> };
  let [httpsPort, plainPort] = [0, 0];
  const certificate = aSelfSignedCertificate(CONSOLE_NAME, `*.${PORTS_DOMAIN}`);
  const cleanups: (() => Promise<unknown>)[] = [];

  before(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "berth-port-names-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const [chain, key] = [path.join(folder, "chain.pem"), path.join(folder, "key.pem")];
    await writeFile(chain, certificate.cert);
    await writeFile(key, certificate.key);
    [httpsPort, plainPort] = [await freePort(), await freePort()];
    machine = await startThisMachine(32_500, {
      BERTH_DOMAIN: CONSOLE_NAME,
      BERTH_TLS_HOST: HOST,
      BERTH_HTTPS_PORT: String(httpsPort),
      BERTH_HTTP_PORT: "off",
      BERTH_TLS_CERT_FILE: chain,
      BERTH_TLS_KEY_FILE: key,
      BERTH_PORTS_DOMAIN: PORTS_DOMAIN,
      BERTH_PORTS_PORT: String(plainPort),
    });
    cleanups.push(() => machine.close());
    renter = await aRenter(machine, "ports");
    cleanups.push(() => renter.close());
    // A name server that asks nobody: the program of the tests for certificates, with the libraries that it needs.
    const made = await docker("create", machine.image);
    for (const file of [
      "/usr/bin/pebble-challtestsrv",
      "/lib/x86_64-linux-gnu/libc.so.6",
      "/lib64/ld-linux-x86-64.so.2",
    ]) {
      await docker("cp", "--follow-link", file, `${made}:/bin/${path.basename(file)}`);
    }
    await docker("commit", made, IMAGE);
    cleanups.push(() => docker("rmi", "-f", IMAGE));
    await docker("rm", made);
    const env = { "-p 8000:8000": "1", "-p 9000:9000": "1", "-p 9100:9100": "1", "-p 5353:5353/udp": "1" };
    await renter.rentAndRun({ image: IMAGE, runtype: "ssh_direct", env }).then(({ id }) => shown(id));
    await renter.inside(instance, "mkdir -p /www && printf hello > /www/index.html && httpd -p 8000 -h /www");
    await renter.inside(instance, "httpd -p 7000 -h /www");
    const echo = Buffer.from(ECHO).toString("base64");
    await renter.inside(instance, `echo ${echo} | /.berth/busybox base64 -d > /echo && chmod 755 /echo`);
    await renter.inside(instance, "(nc -ll -p 9000 -e /bin/sh /echo </dev/null >/dev/null 2>&1 &)");
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  async function shown(id: number): Promise<void> {
    instance = (await renter.done("GET", `/api/v0/instances/${id}/`)).instances;
  }

  const options = (name: string, place = "/") => ({
    ...{ host: HOST, port: httpsPort, servername: name, ca: certificate.cert, agent: false as const, path: place },
    headers: { host: name },
  });

  const read = async (response: http.IncomingMessage): Promise<Answer> => {
    const parts: Buffer[] = [];
    for await (const part of response) if (part instanceof Buffer) parts.push(part);
    return { status: response.statusCode ?? 0, text: Buffer.concat(parts).toString(), headers: response.headers };
  };

  const send = (request: http.ClientRequest) =>
    new Promise<Answer>((resolve, reject) => {
      request.on("response", (response) => void read(response).then(resolve, reject));
      request.on("error", reject);
      request.end();
    });

  const get = (name: string, place?: string) => send(https.request(options(name, place)));
  const nameOf = (port: number) => `${instance.id}-${port}.${PORTS_DOMAIN}`;

  test("a published port opens at its name, and the instance says so", async () => {
    assert.deepEqual(Object.keys(instance.port_urls).toSorted(), ["8000/tcp", "9000/tcp", "9100/tcp"]);
    assert.equal(instance.port_urls["8000/tcp"], `https://${nameOf(8000)}:${httpsPort}`);
    assert.match(await renter.told("show", String(instance.id)), new RegExp(`https://${nameOf(8000)}:${httpsPort}`));
    const answer = await until("the page", async () => {
      const got = await get(nameOf(8000));
      return got.status === 200 && got;
    });
    assert.equal(answer.text, "hello");
    assert.equal((await get(nameOf(8000), "/none")).status, 404, "the program's own answer");
    const console = await get(CONSOLE_NAME, "/healthz");
    assert.deepEqual([console.status, console.text], [200, '{"status":"ok"}']);
  });

  test("many requests at a time, and long bodies, arrive whole", async () => {
    await renter.inside(instance, "dd if=/dev/zero of=/www/large bs=1048576 count=20 2>/dev/null");
    const sizes = await Promise.all(
      Array.from({ length: 8 }, () => get(nameOf(8000), "/large").then(({ text }) => text.length)),
    );
    assert.deepEqual(
      sizes,
      Array.from({ length: 8 }, () => 20 * 1_048_576),
    );
  });

  test("bytes go both ways after an upgrade, over TLS and behind a proxy", async () => {
    const headers = { host: nameOf(9000), connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
    const open = (request: http.ClientRequest) =>
      new Promise<Duplex>((resolve, reject) => {
        request.on("upgrade", (_response, socket) => resolve(socket));
        request.on("response", ({ statusCode }) => reject(new Error(`answered with ${statusCode}`)));
        request.on("error", reject);
        request.end();
      });
    const overTls = () => open(https.request({ ...options(nameOf(9000)), headers }));
    const behindProxy = () => open(http.request({ host: HOST, port: plainPort, agent: false, headers }));
    for (const way of [overTls, behindProxy]) {
      const socket = await until("the echo to listen", () => way().catch(() => undefined));
      socket.write("ping ping");
      const [heard]: Buffer[] = await once(socket, "data");
      assert.equal(String(heard), "ping ping");
      socket.destroy();
    }
  });

  test("a proxy that ends TLS asks for many names on one connection", async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (host: string) => send(http.request({ host: HOST, port: plainPort, agent, headers: { host } }));
    assert.equal((await ask(nameOf(8000))).text, "hello");
    assert.equal((await ask(`${instance.id + 1}-8000.${PORTS_DOMAIN}`)).status, 404);
    assert.equal((await ask(nameOf(8000))).text, "hello");
    agent.destroy();
  });

  test("ports that are not published, SSH, the API and other names cannot be reached", async () => {
    for (const name of [nameOf(7000), nameOf(22), nameOf(1), `999999-8000.${PORTS_DOMAIN}`, `x.${PORTS_DOMAIN}`]) {
      const { status, text } = await get(name);
      assert.equal(status, 404, name);
      assert.match(text, /There is no such port/);
    }
    assert.equal((await get(nameOf(9100))).status, 502, "nothing listens there");
    const api = await get(nameOf(8000), "/api/v0/instances/");
    assert.equal(api.headers["x-request-id"], undefined, "the program answers, and not the API");
    await assert.rejects(get(`a.b.${PORTS_DOMAIN}`), /altnames/i);
    const crossed = await send(https.request({ ...options(nameOf(8000)), headers: { host: CONSOLE_NAME } }));
    assert.equal(crossed.status, 404, "the console is at its own name only");
  });

  test("sessions have a cookie that no name of a port can set, and changes from such a page are refused", async () => {
    const body = JSON.stringify({ api_key: renter.key });
    const signIn = (headers: Readonly<Record<string, string>>) =>
      new Promise<Answer>((resolve, reject) => {
        const all = { host: CONSOLE_NAME, "content-type": "application/json", "x-berth-console": "1", ...headers };
        const request = https.request({
          ...options(CONSOLE_NAME, "/api/v0/auth/browser/"),
          method: "POST",
          headers: all,
        });
        request.on("response", (response) => void read(response).then(resolve, reject));
        request.on("error", reject);
        request.end(body);
      });
    const cookie = String((await signIn({})).headers["set-cookie"]);
    assert.match(cookie, /^__Host-berth_session=\S+; HttpOnly; Path=\/; SameSite=Lax; Max-Age=\d+; Secure$/);
    const origin = `https://${nameOf(8000)}:${httpsPort}`;
    assert.equal((await signIn({ origin, "sec-fetch-site": "same-site" })).status, 403);
    const value = /=([^;]+)/.exec(cookie)?.[1] ?? "";
    const as = (text: string) =>
      send(
        https.request({
          ...options(CONSOLE_NAME, "/api/v0/users/current/"),
          headers: { host: CONSOLE_NAME, cookie: text },
        }),
      );
    assert.equal((await as(`__Host-berth_session=${value}`)).status, 200);
    assert.equal((await as(`berth_session=${value}`)).status, 401, "a name that others could set is not read");
  });

  test("datagrams reach a port for UDP at the host, and come back", async () => {
    await renter.inside(
      instance,
      "(LD_LIBRARY_PATH=/bin /bin/ld-linux-x86-64.so.2 /bin/pebble-challtestsrv -dns01 :5353 -http01 '' -https01 '' -tlsalpn01 '' -management 127.0.0.1:8055 -defaultIPv4 203.0.113.77 </dev/null >/dev/null 2>&1 &)",
    );
    const resolver = new Resolver({ timeout: 1_000, tries: 1 });
    resolver.setServers([`${instance.public_ipaddr}:${instance.ports["5353/udp"]?.[0]?.HostPort}`]);
    const found = await until("an answer by UDP", () => resolver.resolve4("any.example.test").catch(() => undefined));
    assert.deepEqual(found, ["203.0.113.77"]);
  });

  test("Caddy in front, with the file in deploy/, serves the console and the ports", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "berth-caddy-"));
    const port = await freePort();
    const [chain, key] = [path.join(folder, "chain.pem"), path.join(folder, "key.pem")];
    await writeFile(chain, certificate.cert);
    await writeFile(key, certificate.key);
    const own = `tls ${chain} ${key}`;
    const given = await readFile(path.join(import.meta.dirname, "../../deploy/caddy/Caddyfile"), "utf8");
    const adapted = given
      .replace(/^gpu\.example\.com \{/m, `${CONSOLE_NAME}:${port} {\n${own}`)
      .replace(/^\*\.ports\.example\.net \{/m, `*.${PORTS_DOMAIN}:${port} {`)
      .replace(/tls \/etc\/caddy\S+ \S+/, own)
      .replace("127.0.0.1:8080", new URL(machine.berth().url).host)
      .replace("127.0.0.1:8081", `127.0.0.1:${plainPort}`);
    const file = path.join(folder, "Caddyfile");
    await writeFile(file, `{\nadmin off\nauto_https off\n}\n${adapted}`);
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const caddy = spawn("caddy", ["run", "--adapter", "caddyfile", "--config", file], { stdio: "ignore", env });
    const ended = once(caddy, "exit");
    try {
      const by = (name: string, place = "/") => send(https.request({ ...options(name, place), port }));
      const ready = await until("Caddy to serve", () => by(CONSOLE_NAME, "/healthz").catch(() => undefined));
      assert.deepEqual([ready.status, ready.headers["strict-transport-security"]], [200, "max-age=31536000"]);
      assert.equal((await by(nameOf(8000))).text, "hello");
      assert.equal((await by(nameOf(7000))).status, 404);
    } finally {
      caddy.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("a stopped instance says that it is stopped", async () => {
    await renter.told("stop", String(instance.id));
    await renter.untilStatus(instance.id, "stopped");
    const { status, text } = await until("the page of a stopped instance", async () => {
      const got = await get(nameOf(8000));
      return got.status === 503 && got;
    });
    assert.equal(status, 503);
    assert.match(text, /does not run now/);
    await shown(instance.id);
    assert.deepEqual(instance.port_urls, {});
  });
});
