// A notebook of a rental: the image brings the server (here a small one in its place), the platform starts it with its
// token, gives it a certificate, and leads to it on a port of the machine and through the proxy.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { curl } from "../support/network/curl.ts";
import { docker } from "../support/hosts/docker.ts";
import { aRenter, untilUntouched, type Renter, type Shown } from "../support/renter.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
const IMAGE = "berth-test/notebook:1";
/** A stand-in for Jupyter that serves its start options without TLS: the certificate files are part of the page. */
const NOTEBOOK = `#!/bin/sh
mkdir -p /www && echo "$* token=$JUPYTER_TOKEN in=$PWD" > /www/index.html && exec httpd -f -p 8080 -h /www
`;

describe("a rented notebook", () => {
  let machine: ThisMachine;
  let renter: Renter;
  let folder = "";
  const cleanups: (() => Promise<unknown>)[] = [];

  const page = (host: string, port: number) =>
    until(`the notebook at ${port}`, async () => {
      const shown = await curl("GET", `http://${host}:${port}/`);
      return shown.status === 200 && shown.text.trim();
    });
  const tokenOf = async (id: number): Promise<string> =>
    (await renter.done("GET", `/api/v0/instances/${id}/`)).instances.jupyter_token;
  /** The certificate and key of an instance, as they are inside. */
  const certificateOf = async (instance: Shown) => {
    const files = { crt: join(folder, `${instance.id}.crt`), key: join(folder, `${instance.id}.key`) };
    for (const [kind, file] of Object.entries(files)) {
      await writeFile(
        file,
        await docker("exec", await machine.containerOf(instance.id), "cat", `/etc/instance.${kind}`),
      );
    }
    return files;
  };
  const publicKey = async (...args: readonly string[]) => (await run("openssl", [...args])).stdout;

  before(async () => {
    machine = await startThisMachine(31_600);
    cleanups.push(() => machine.close());
    renter = await aRenter(machine, "notebook");
    cleanups.push(() => renter.close());
    folder = await mkdtemp(join(tmpdir(), "berth-notebook-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "jupyter"), NOTEBOOK);
    await chmod(join(folder, "jupyter"), 0o755);
    const made = await docker("create", machine.image);
    await docker("cp", join(folder, "jupyter"), `${made}:/bin/jupyter`);
    await docker("commit", made, IMAGE);
    cleanups.push(() => docker("rmi", "-f", IMAGE));
    await docker("rm", made);
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("answers on its port with its token, in its directory, with a certificate that the server's root vouches for", async () => {
    const settings = { image: IMAGE, runtype: "jupyter_direct", jupyter_dir: "/srv/notes", use_jupyter_lab: true };
    const instance = await renter.rentAndRun(settings);
    const shown = await page(instance.public_ipaddr, Number(instance.ports["8080/tcp"]?.[0]?.HostPort));
    const token = await tokenOf(instance.id);
    assert.ok(token.length >= 20);
    assert.match(shown, /^lab /);
    assert.match(shown, /--certfile=\/etc\/instance.crt --keyfile=\/etc\/instance.key/);
    assert.ok(shown.includes(`token=${token} in=/srv/notes`), shown);

    const { crt, key } = await certificateOf(instance);
    const root = join(folder, "root.pem");
    const answer = await curl("GET", `${machine.berth().url}/static/jvastai_root.cer`);
    await writeFile(root, answer.text);
    await run("openssl", ["verify", "-CAfile", root, crt]);
    assert.equal(
      await publicKey("x509", "-in", crt, "-noout", "-pubkey"),
      await publicKey("pkey", "-in", key, "-pubout"),
    );

    await renter.told("stop", String(instance.id));
    await renter.untilStatus(instance.id, "stopped");
    await renter.told("start", String(instance.id));
    const again = await renter.untilStatus(instance.id, "running");
    assert.ok((await page(again.public_ipaddr, Number(again.ports["8080/tcp"]?.[0]?.HostPort))).includes(token));
    assert.equal(await tokenOf(instance.id), token);
    assert.equal(await readFile(crt, "utf8"), await readFile((await certificateOf(again)).crt, "utf8"));
    await renter.destroy(instance.id);
    await untilUntouched(machine, renter);
  });

  test("without a port of its own answers through the proxy, and SSH one port above", async () => {
    const instance = await renter.rentAndRun({ image: IMAGE, runtype: "jupyter_proxy ssh_proxy" });
    assert.deepEqual(instance.ports, {});
    const shown = await page(instance.ssh_host, instance.ssh_port);
    assert.ok(shown.includes(`token=${await tokenOf(instance.id)}`), shown);
    const client = await renter.client({ ...instance, ssh_port: instance.ssh_port + 1 }, "proxy");
    assert.equal((await client.ssh("cat /.launch")).stdout.trim(), "shell jupyter");
    await renter.destroy(instance.id);
    await untilUntouched(machine, renter);
  });
});
