import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EngineFailureKind } from "./engine.ts";
import { faultOf, faultOfPull } from "./fault.ts";

const OCI = "failed to create shim task: OCI runtime create failed: runc create failed: ";
const PROCESS = `${OCI}unable to start container process: `;
const refused = (message: string, kind: EngineFailureKind = "refused") => faultOf({ kind, message });

/** As Docker Engine 20.10 to 28 and the NVIDIA container toolkit write them. */
const IMAGE: readonly string[] = [
  `${PROCESS}exec: "nosuch": executable file not found in $PATH: unknown`,
  `${PROCESS}exec: "/no/such": stat /no/such: no such file or directory: unknown`,
  `${PROCESS}exec: "/etc": permission denied: unknown`,
  `${PROCESS}exec /prog: exec format error: unknown`,
  "unable to find user nobody2: no matching entries in passwd file",
  "unable to find group nogrp: no matching entries in group file",
  "Cannot mkdir: /bin/busybox is not a directory",
  `${PROCESS}error during container init: chdir to cwd ("/workspace") set in config.json failed: permission denied: unknown`,
  "Minimum memory limit allowed is 6MB",
  "No command specified",
  `${PROCESS}container init was OOM-killed (memory limit too low?): unknown`,
  `${PROCESS}error during container init: error mounting "/var/lib/x" to rootfs at "/data": mount /var/lib/x:/data ` +
    "(via /proc/self/fd/6), flags: 0x5000: not a directory: unknown: Are you trying to mount a directory onto a file " +
    "(or vice-versa)? Check if the specified host path exists and is the expected type",
  `${PROCESS}error during container init: sethostname: invalid argument: unknown`,
  `${PROCESS}error during container init: error running hook #0: exit status 1, stdout: , stderr: Auto-detected mode ` +
    "as 'legacy' nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.6, please update your " +
    "driver to a newer version, or use an earlier cuda container: unknown",
];

const HOST: readonly string[] = [
  'could not select device driver "nvidia" with capabilities: [[gpu]]',
  `${PROCESS}error during container init: error running hook #0: exit status 1, stdout: , stderr: Auto-detected mode ` +
    "as 'legacy' nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open " +
    "shared object file: no such file or directory: unknown",
  `${PROCESS}error during container init: error running hook #0: exit status 1, stdout: , stderr: Auto-detected mode ` +
    "as 'legacy' nvidia-container-cli: device error: GPU-5a9c: unknown device: unknown",
  "mkdir /var/lib/docker/overlay2/0f3c-init: no space left on device",
  "network berth-0123abcd not found",
  "failed to create endpoint berth-1-g1 on network berth-0123abcd: adding interface veth0 to bridge failed",
  'invalid mount config for type "bind": bind source path does not exist: /var/lib/berth-agent/toolbox/0123',
  "error while mounting volume '/var/lib/docker/volumes/e9/_data': failed to mount local volume: mount /nosuch:/x, " +
    "flags: 0x1000: no such file or directory",
  "Unknown runtime specified nvidia",
];

const NOBODY: readonly string[] = [
  "driver failed programming external connectivity on endpoint berth-1-g1 (9f8a): Error starting userland proxy: listen " +
    "tcp4 127.0.0.1:7499: bind: address already in use",
  "driver failed programming external connectivity on endpoint berth-1-g1: Bind for 0.0.0.0:20000 failed: port is " +
    "already allocated",
  `${PROCESS}error during container init: mkdir /var/lib/docker/overlay2/1/merged/.berth: no space left on device: unknown`,
  "something that nobody has seen before",
];

describe("whose fault it is that nothing starts", () => {
  it("the order's, when the engine cannot make its process on any host", () => {
    for (const message of IMAGE) assert.equal(refused(message), "image", message);
  });

  it("the host's, when the engine lacks what every start needs", () => {
    for (const message of HOST) assert.equal(refused(message), "host", message);
    assert.equal(refused("connect ENOENT /var/run/docker.sock", "unreachable"), "host");
  });

  it("nobody's, when another attempt may go well or nothing is known", () => {
    for (const message of NOBODY) assert.equal(refused(message), undefined, message);
    for (const kind of ["conflict", "cancelled"] as const) assert.equal(refused(HOST[0] ?? "", kind), undefined);
  });

  it("a name that a renter chose does not make a failure the host's fault", () => {
    for (const words of HOST) {
      const name = JSON.stringify(words.replaceAll('"', ""));
      assert.notEqual(refused(`${PROCESS}exec: ${name}: executable file not found in $PATH`), "host");
      assert.notEqual(refused(`unable to find user ${words}: no matching entries in passwd file`), "host");
      assert.notEqual(refused(`some new wording about ${name}`), "host");
    }
  });

  it("a registry may say what it likes: only what the host knows itself is held against the host", async () => {
    const [full, roomy] = [() => Promise.resolve(true), () => Promise.resolve(false)];
    const pull = (kind: EngineFailureKind, message: string, isDiskLow = roomy) =>
      faultOfPull({ kind, message }, isDiskLow);
    assert.equal(await pull("not_found", "manifest unknown"), "image");
    assert.equal(await pull("denied", "pull access denied"), "image");
    assert.equal(await pull("refused", "no matching manifest for linux/amd64 in the manifest list entries"), "image");
    assert.equal(await pull("refused", "invalid reference format"), "image");
    assert.equal(await pull("refused", "write /var/lib/docker/tmp/1: no space left on device", full), "host");
    assert.equal(await pull("refused", "no space left on device"), undefined);
    assert.equal(await pull("refused", "network berth-0 not found", full), undefined);
    assert.equal(await pull("refused", "dial tcp: lookup registry.example: i/o timeout"), undefined);
    assert.equal(await pull("refused", "toomanyrequests: You have reached your pull rate limit"), undefined);
    assert.equal(await pull("unreachable", "connect ECONNREFUSED"), "host");
  });
});
