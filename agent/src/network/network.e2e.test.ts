// The reach of a renter's program, tried from inside real containers: the internet (another machine, in a network
// namespace) and no other network.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { busyboxImage, docker, DOCKER_SOCKET } from "../../../test/support/hosts/docker.ts";
import { otherMachine, type OtherMachine } from "../../../test/support/hosts/netns.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../base/clock.ts";
import { plainSpec } from "../engine/engine.contract.ts";
import { createDockerEngine } from "../docker/engine.ts";
import { silentLog } from "../base/log.ts";
import { programRunner } from "../base/programs.ts";
import { createNetwork, type Network } from "./network.ts";
import { openRelay, RELAY_LIMITS } from "./relay.ts";
import { networkNames } from "./rules.ts";

const run = promisify(execFile);
const HOST_KEY = `network-test-${process.pid}`;
const INTERNET = "203.0.113.7";
const METADATA = "169.254.169.254";
const LAN = "10.213.7.9";
/** For a connection that is expected to come about. */
const PATIENCE_S = 60;
/** For others that are at the tables just now. */
const WAIT = ["-w", "60"] as const;

describe("the network of renters' containers", () => {
  const engine = createDockerEngine({ socketPath: DOCKER_SOCKET, clock: systemClock });
  const names = networkNames(HOST_KEY);
  const containers: string[] = [];
  let outside: OtherMachine;
  let network: Network;
  let inRange: Server;
  let outOfRange: Server;
  let server: Server;
  let image = "";

  const rulesNow = async () =>
    [(await run("iptables", [...WAIT, "-S"])).stdout, (await run("ip6tables", [...WAIT, "-S"])).stdout]
      .join("")
      .split("\n")
      .filter((line) => line.includes(names.bridge) || line.includes(names.input) || line.includes(names.forward));
  const listenOn = async () => {
    const server = createServer((_request, response) => response.end("here"));
    server.listen(0, "0.0.0.0");
    await once(server, "listening");
    return server;
  };
  const portOf = (server: Server) => (server.address() as AddressInfo).port;
  const container = async (): Promise<{ readonly id: string; readonly address: string }> => {
    const joined = await network.provide();
    assert.ok(joined.ok, JSON.stringify(joined));
    const made = await engine.create({
      ...plainSpec(`berth-network-test-${process.pid}-${containers.length}`, image, "network"),
      network: joined.value,
      command: ["/bin/sh", "-c", "mkdir -p /www && echo neighbour > /www/index.html && exec httpd -f -p 80 -h /www"],
    });
    assert.ok(made.ok, JSON.stringify(made));
    containers.push(made.value);
    assert.deepEqual(await engine.start(made.value), { ok: true, value: undefined });
    const seen = await engine.inspect(made.value);
    assert.ok(seen.ok && seen.value.network);
    return { id: made.value, address: seen.value.network.ipAddress };
  };
  /** The answer of a web server to a program inside. */
  const ask = async (id: string, url: string, waitS = PATIENCE_S): Promise<string> => {
    const { hostname, port, pathname } = new URL(url);
    const command = `printf 'GET ${pathname} HTTP/1.0\\r\\n\\r\\n' | nc -w ${waitS} ${hostname} ${port || "80"}`;
    const asked = await engine.exec(id, {
      argv: ["/bin/sh", "-c", command],
      signal: new AbortController().signal,
      outputLimitBytes: 10_000,
    });
    assert.ok(asked.ok, JSON.stringify(asked));
    return asked.value.stdout.toString();
  };
  const reaches = async (id: string, url: string) => (await ask(id, url)).startsWith("HTTP/1");
  /** The same of what is expected to be out of reach: nobody waits long for that. */
  const isOpen = async (id: string, url: string) => (await ask(id, url, 1)).startsWith("HTTP/1");

  before(async () => {
    image = await busyboxImage();
    outside = await otherMachine("198.51.100");
    for (const address of [INTERNET, METADATA, LAN]) await outside.addAddress(address);
    outside.start("busybox", ["httpd", "-f", "-p", "80", "-h", "/etc"]);
    inRange = await listenOn();
    outOfRange = await listenOn();
    server = createServer((_request, response) => response.end("the server"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    network = createNetwork({
      engine,
      run: programRunner(systemClock),
      hostKey: HOST_KEY,
      portRange: { first: portOf(inRange), last: portOf(inRange) },
      readResolvConf: () => "nameserver 198.51.100.53\n",
      openRelay: (place) =>
        openRelay({
          ...{ place, limits: RELAY_LIMITS, isForRenters: () => false, clock: systemClock, log: silentLog },
          apiUrl: () => `http://127.0.0.1:${portOf(server)}`,
        }),
    });
  });
  after(async () => {
    for (const id of containers) await engine.remove(id);
    await network.remove();
    inRange.close();
    outOfRange.close();
    server.close();
    await outside.close();
  });

  it("reaches the internet, and neither metadata nor local networks nor the host, except at renters' ports", async () => {
    const tenant = await container();
    await until("the internet", () => reaches(tenant.id, `http://${INTERNET}/hostname`));
    const { stdout: gateway } = await run("docker", [
      "network",
      "inspect",
      "-f",
      "{{(index .IPAM.Config 0).Gateway}}",
      names.network,
    ]);
    const host = gateway.trim();
    const tried = {
      metadata: await isOpen(tenant.id, `http://${METADATA}/hostname`),
      lan: await isOpen(tenant.id, `http://${LAN}/hostname`),
      gateway: await isOpen(tenant.id, `http://${host}:${portOf(outOfRange)}/`),
      otherAddress: await isOpen(tenant.id, `http://${outside.gateway}:${portOf(outOfRange)}/`),
      rentersPort: await reaches(tenant.id, `http://${host}:${portOf(inRange)}/`),
    };
    assert.deepEqual(tried, {
      metadata: false,
      lan: false,
      gateway: false,
      otherAddress: false,
      rentersPort: true,
    });
  });

  it("asks the server what workers ask it, through one port of the host, and nothing else", async () => {
    const tenant = await container();
    const relay = network.relayUrl();
    assert.ok(relay !== undefined);
    assert.match(await ask(tenant.id, `${relay}/pubkey/`), /^HTTP\/1\.1 200 [^]*\r\n\r\nthe server$/);
    assert.match(await ask(tenant.id, `${relay}/api/v0/instances/`), /^HTTP\/1\.1 404 /);
    assert.equal(await isOpen(tenant.id, `http://127.0.0.1:${portOf(server)}/`), false);
    const elsewhere = new URL(relay);
    elsewhere.hostname = outside.gateway;
    assert.equal(await isOpen(tenant.id, elsewhere.href), false, "only at the address of their own network");
  });

  it("a neighbour on the same host is out of reach, by its address, by IPv6 and by name", async () => {
    const [one, other] = [await container(), await container()];
    await until("its own page", () => reaches(other.id, "http://127.0.0.1/"));
    assert.equal(await isOpen(one.id, `http://${other.address}/`), false);
    const name = (await docker("inspect", "-f", "{{.Name}}", other.id)).slice(1);
    assert.equal(await isOpen(one.id, `http://${name}/`), false);
    const addresses = await docker("exec", one.id, "cat", "/proc/net/if_inet6").catch(() => "");
    assert.equal(addresses.trim(), "", "no IPv6 address, not even a local one");
  });

  it("the host reaches a container, which answers", async () => {
    const { address } = await container();
    await until("its page", async () => (await fetch(`http://${address}/`)).ok);
  });

  it("rules that somebody flushed are back before the next container, and nothing is left in the end", async () => {
    await container();
    const before = await rulesNow();
    assert.ok(before.length > 10, before.join("\n"));
    await run("iptables", [...WAIT, "-F", names.forward]);
    await run("iptables", [...WAIT, "-D", "INPUT", "-i", names.bridge, "-j", names.input]);
    await network.refresh();
    await container();
    assert.deepEqual((await rulesNow()).toSorted(), before.toSorted());
    for (const id of containers.splice(0)) await engine.remove(id);
    await network.remove();
    assert.deepEqual(await rulesNow(), []);
    assert.equal(await docker("network", "ls", "-q", "--filter", `name=${names.network}`), "");
  });
});
