// The tour of a rental on this machine, as a renter walks it: curl, `./berth`, and OpenSSH's own programs, with a real
// container at the other end.
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { curl } from "../support/network/curl.ts";
import { docker } from "../support/hosts/docker.ts";
import { freePort } from "../support/network/free-port.ts";
import { aRenter, untilUntouched, type Renter, type Shown } from "../support/renter.ts";
import { NO_TRACES, startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { until } from "../support/until.ts";

const GREETING = "hello from a rented machine";
const SECRET = "for this container only";
/** A page for everybody, and one that only listens inside. */
const ONSTART = [
  `mkdir -p /www /private && echo ${GREETING} > /www/index.html && echo ${SECRET} > /private/index.html`,
  "httpd -p 127.0.0.1:9000 -h /private",
  'echo "onstart in $CONTAINER_LABEL with ${MODE:-nothing}"',
  "exec httpd -f -p 8080 -h /www",
].join("\n");

describe("renting this machine", () => {
  let machine: ThisMachine;
  let renter: Renter;
  let id = 0;
  let instance: Shown;
  const cleanups: (() => Promise<unknown>)[] = [];

  const page = async ({ ports, public_ipaddr }: Shown, port = "8080/tcp") => {
    const hostPort = ports[port]?.[0]?.HostPort;
    assert.ok(hostPort !== undefined, JSON.stringify(ports));
    const answer = await until("the page", () => curl("GET", `http://${public_ipaddr}:${hostPort}/`));
    return answer.text.trim();
  };
  const inside = (command: string) => renter.inside(instance, command);
  const started = (container: string) => docker("inspect", "-f", "{{.State.StartedAt}}", container);

  before(async () => {
    machine = await startThisMachine(31_000);
    cleanups.push(() => machine.close());
    renter = await aRenter(machine, "tour");
    cleanups.push(() => renter.close());
    assert.deepEqual(await machine.traces(), NO_TRACES);
    const options = ["--image", machine.image, "--runtype", "ssh_direct", "--onstart", ONSTART, "--disk", "8"];
    const offer = String(await renter.anOffer());
    const rented = await renter.told("rent", offer, ...options, "--env", "-p 8080:8080 -e MODE=first", "--json");
    id = JSON.parse(rented).new_contract;
    instance = await renter.untilStatus(id, "running");
    await renter.inside(instance, "true");
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("ssh with the account's key runs a command there, and tells its output, its errors and its exit code apart", async () => {
    const { ssh } = await renter.client(instance);
    const { code, stdout, stderr } = await ssh('echo "$CONTAINER_ID $HOME $USER"; echo trouble >&2; exit 7');
    assert.deepEqual({ code, stdout, stderr }, { code: 7, stdout: `${id} /root root\n`, stderr: "trouble\n" });
    const container = await machine.containerOf(id);
    assert.equal((await ssh("hostname")).stdout.trim(), container.slice(0, 12));
  });

  test("berth ssh just connects: it waits for nothing, asks nothing, and accepts no other host key than the record's", async () => {
    const { code, stdout, stderr } = await renter.cli(
      "ssh",
      "-i",
      renter.keys.file,
      String(id),
      "cat",
      "/www/index.html",
    );
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `${GREETING}\n`, stderr: "" });
    assert.equal((await renter.cli("ssh", "-i", renter.keys.file, String(id), "exit 3")).code, 3);
    const { host, port } = instanceAddress(instance);
    assert.equal((await renter.told("ssh-url", String(id))).trim(), `ssh://root@${host}:${port}`);
    const [other] = (await readFile(`${renter.keys.file}.pub`, "utf8")).split(" you");
    const client = await renter.client({ ...instance, ssh_host_key: other ?? "" });
    assert.match((await client.ssh("true")).stderr, /Host key verification failed/);
  });

  test("the web server that onstart began answers on the mapped port, and what listens only inside does through -L", async () => {
    assert.equal(await page(instance), GREETING);
    const [port, client] = [await freePort(), await renter.client(instance)];
    const forward = client.forward(`127.0.0.1:${port}:127.0.0.1:9000`);
    try {
      const answer = await until("the forwarded page", () => curl("GET", `http://127.0.0.1:${port}/`));
      assert.equal(answer.text.trim(), SECRET);
    } finally {
      await forward.kill();
    }
    assert.equal(Object.keys(instance.ports).toSorted().join(), "22/tcp,8080/tcp");
  });

  test("berth logs prints what onstart wrote, whole, by lines and by words", async () => {
    assert.match(await renter.told("logs", String(id)), new RegExp(`^onstart in C\\.${id} with first$`, "m"));
    assert.equal(await renter.told("logs", String(id), "--filter", "no such words"), "\n");
    assert.match(await renter.told("logs", String(id), "--daemon"), /create|start/);
  });

  test("scp, sftp and rsync put files there and fetch them again", async () => {
    const client = await renter.client(instance);
    const content = Buffer.alloc(3_000_000, "Berth\n");
    const here = path.join(renter.folder, "here");
    await mkdir(path.join(here, "tree/deep"), { recursive: true });
    for (const name of ["scp", "sftp", "tree/one", "tree/deep/two words"])
      await writeFile(path.join(here, name), content);
    const isSame = async (name: string) =>
      assert.ok(content.equals(await readFile(path.join(renter.folder, name))), name);
    const good = ({ code, stderr }: { readonly code: number | null; readonly stderr: string }) =>
      assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });

    good(await client.scp(path.join(here, "scp"), ":/root/by-scp"));
    good(await client.scp(":/root/by-scp", path.join(renter.folder, "back-scp")));
    good(await client.sftp([`put ${here}/sftp /root/by-sftp`, `get /root/by-sftp ${renter.folder}/back-sftp`]));
    good(await client.rsync("-a", `${here}/tree`, ":/root/by-rsync/"));
    good(await client.rsync("-a", ":/root/by-rsync/tree/", path.join(renter.folder, "back-rsync")));
    for (const name of ["back-scp", "back-sftp", "back-rsync/one", "back-rsync/deep/two words"]) await isSame(name);
    assert.equal(await inside("ls /root/by-rsync/tree/deep; wc -c < /root/by-scp"), "two words\n3000000\n");
  });

  test("stopped, its files can be looked at; started again they are there, behind the same host key", async () => {
    const [container, hostKey] = [await machine.containerOf(id), instance.ssh_host_key];
    await inside("echo precious > /root/kept");
    await renter.told("stop", String(id));
    await renter.untilStatus(id, "stopped");
    assert.equal(await docker("inspect", "-f", "{{.State.Running}}", container), "false");
    assert.match(await renter.told("execute", String(id), "ls /root"), /^kept$/m);
    assert.match(await renter.told("logs", String(id)), /with first/);
    assert.match((await (await renter.client(instance)).ssh("true")).stderr, /Connection refused/);
    const refused = await renter.cli("ssh", "-i", renter.keys.file, String(id), "true");
    assert.match(refused.stderr, /does not run: stopped/);

    await renter.told("start", String(id));
    instance = await renter.untilStatus(id, "running");
    assert.equal(await inside("cat /root/kept"), "precious\n");
    assert.equal(instance.ssh_host_key, hostKey);
    assert.equal(await machine.containerOf(id), container);
    assert.equal(await page(instance), GREETING);
  });

  test("a reboot starts the same container again; a recycle makes another one without the files, in the same place", async () => {
    const [container, hostKey] = [await machine.containerOf(id), instance.ssh_host_key];
    const before = await started(container);
    await renter.told("reboot", String(id));
    await until("another start", async () => (await started(container)) !== before);
    instance = await renter.untilStatus(id, "running");
    assert.equal(await inside("cat /root/kept"), "precious\n");

    await renter.told("recycle", String(id));
    await until("another container", async () => {
      const [now] = await machine.containers(id);
      return now !== undefined && now !== container;
    });
    instance = await renter.untilStatus(id, "running");
    assert.equal(await inside("test -e /root/kept || echo gone"), "gone\n");
    assert.equal(instance.ssh_host_key, hostKey);
    assert.equal(await page(instance), GREETING);
  });

  test("update-template gives it other settings", async () => {
    const container = await machine.containerOf(id);
    await renter.told("update-template", String(id), "--env", "-e MODE=second -p 8081:8081");
    await until("another container", async () => {
      const [now] = await machine.containers(id);
      return now !== undefined && now !== container;
    });
    instance = await renter.untilStatus(id, "running");
    await until("onstart with the new variable", async () =>
      (await renter.told("logs", String(id))).includes("with second"),
    );
    assert.equal(await page(instance), GREETING);
    assert.ok(instance.ports["8081/tcp"], JSON.stringify(instance.ports));
  });

  test("destroyed, it leaves this machine as it was; the agent's own network goes with the service", async () => {
    assert.notDeepEqual(await machine.traces(), NO_TRACES);
    await renter.told("destroy", String(id));
    await untilUntouched(machine, renter);
    assert.notDeepEqual(await machine.networkTraces(), []);
    assert.deepEqual(await machine.berth().stop(), { code: 0, signal: null });
    assert.deepEqual(await machine.networkTraces(), []);
    assert.deepEqual(await machine.traces(), NO_TRACES);
  });
});

function instanceAddress({ public_ipaddr: host, ports }: Shown) {
  return { host, port: Number(ports["22/tcp"]?.[0]?.HostPort) };
}
