import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../../../base/errors.ts";
import { readNewContent } from "./rules/content.ts";
import type { Fields } from "./rules/fields.ts";
import { resolveLaunch, type LaunchTemplate } from "./rules/launch.ts";

function templateOf(fields: Fields, password = ""): LaunchTemplate {
  return { content: readNewContent({ name: "t", image: "t/image", ...fields }), docker_login_pass: password };
}

function refusal(run: () => unknown): AppError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof AppError && error.kind === "invalid", String(error));
    return error;
  }
  return assert.fail("nothing was refused");
}

test("without a template an image is enough: SSH through the proxy, 8 GB, nothing else", () => {
  assert.deepEqual(resolveLaunch(undefined, { image: "ubuntu:22.04" }), {
    image: "ubuntu:22.04",
    registry_auth: null,
    runtype: { mode: "ssh", is_ssh_direct: false, is_jupyter_direct: false },
    image_runtype: "ssh ssh_proxy",
    command: { mode: "shell", onstart: null, jupyter: null },
    image_args: [],
    onstart: null,
    env: [],
    extra_env: [],
    ports: [],
    hostname: null,
    networks: [],
    volume_links: [],
    disk_gb: 8,
    label: null,
    jupyter: null,
    user: null,
    extra_filters: {},
  });
});

test("a scalar of the request replaces the template's, an absent or null one does not", () => {
  const template = templateOf({
    image: "t/image",
    tag: "v2",
    onstart: "echo t",
    runtype: "ssh",
    ssh_direct: true,
    recommended_disk_space: 30,
  });
  const untouched = resolveLaunch(template, { image: null, disk: null, onstart: null, runtype: null });
  assert.equal(untouched.image, "t/image:v2");
  assert.equal(untouched.disk_gb, 30);
  assert.equal(untouched.onstart, "echo t");
  assert.equal(untouched.image_runtype, "ssh ssh_direc ssh_proxy");
  const replaced = resolveLaunch(template, { image: "r/x:1", disk: 10, onstart: "echo r", runtype: "args" });
  assert.equal(replaced.image, "r/x:1");
  assert.equal(replaced.disk_gb, 10);
  assert.deepEqual(replaced.command, { mode: "entrypoint", entrypoint_shell: "echo r", args: null });
  assert.equal(resolveLaunch(template, { onstart: "" }).onstart, null);
});

test("a template's tag does not follow to another image", () => {
  const template = templateOf({ image: "t/image", tag: "v2" });
  assert.equal(resolveLaunch(template, { image: "t/image" }).image, "t/image:v2");
  assert.equal(resolveLaunch(template, { image: "t/other" }).image, "t/other:latest");
  assert.equal(resolveLaunch(templateOf({ tag: "@vastai-automatic-tag" }), {}).image, "t/image:@vastai-automatic-tag");
});

test("options are merged: the template's first, the request's appended, the request wins per name", () => {
  const template = templateOf({ env: "-e A=1 -e B=2 -p 80:80 -h tpl -v V.7:/data" });
  const settings = resolveLaunch(template, { env: "-e C=3 -e B=9 -p 53:53/udp -h req -v V.8:/data/" });
  assert.deepEqual(settings.extra_env, [
    ["A", "1"],
    ["B", "9"],
    ["-p 80:80", "1"],
    ["-h", "req"],
    ["-v V.7:/data", "1"],
    ["C", "3"],
    ["-p 53:53/udp", "1"],
    ["-v V.8:/data/", "1"],
  ]);
  assert.deepEqual(settings.env, [
    ["A", "1"],
    ["B", "9"],
    ["C", "3"],
  ]);
  assert.deepEqual(settings.ports, [
    { container_port: 80, protocol: "tcp" },
    { container_port: 53, protocol: "udp" },
  ]);
  assert.equal(settings.hostname, "req");
  assert.deepEqual(settings.volume_links, [{ volume: "8", mount_path: "/data" }]);
});

test("filters are merged by field and the request's field replaces the template's", () => {
  const template = templateOf({ extra_filters: { gpu_ram: { gte: 20, lte: 50 }, verified: { eq: true } } });
  const settings = resolveLaunch(template, { extra_filters: { gpu_ram: { gte: 40 }, num_gpus: { in: [1, 2] } } });
  assert.deepEqual(settings.extra_filters, {
    gpu_ram: { gte: 40 },
    verified: { eq: true },
    num_gpus: { in: [1, 2] },
  });
});

test("the volume settings of a template are never applied", () => {
  const settings = resolveLaunch(templateOf({ volume_info: { create_new: true, size: 9, mount_path: "/x" } }), {});
  assert.deepEqual(settings.volume_links, []);
});

test("the explicit false that clients always send does not override a template's true", () => {
  const template = templateOf({ runtype: "jupyter", use_jupyter_lab: true, jupyter_dir: "/work" });
  const settings = resolveLaunch(template, { use_jupyter_lab: false, python_utf8: false, lang_utf8: false });
  assert.deepEqual(settings.jupyter, { directory: "/work", is_lab: true });
  assert.deepEqual(settings.env, []);
});

test("every spelling of a launch mode means one mode and its ports", () => {
  const cases: readonly (readonly [string, string, readonly number[]])[] = [
    ["ssh", "ssh ssh_proxy", []],
    ["ssh_proxy", "ssh ssh_proxy", []],
    ["ssh_direct", "ssh ssh_direc ssh_proxy", [22]],
    ["ssh_direc ssh_proxy", "ssh ssh_direc ssh_proxy", [22]],
    ["jupyter", "jupyter jupyter_proxy ssh_proxy", []],
    ["jupyter_proxy ssh_proxy", "jupyter jupyter_proxy ssh_proxy", []],
    ["jupyter_direct", "jupyter jupyter_direc ssh_direc ssh_proxy", [22, 8080]],
    ["jupyter_direc ssh_direc ssh_proxy", "jupyter jupyter_direc ssh_direc ssh_proxy", [22, 8080]],
    ["args", "args", []],
  ];
  for (const [runtype, text, ports] of cases) {
    const settings = resolveLaunch(undefined, { image: "x", runtype });
    assert.equal(settings.image_runtype, text, runtype);
    assert.equal(settings.image_runtype.includes("jupyter"), runtype.includes("jupyter"));
    assert.deepEqual(
      settings.ports.map((port) => port.container_port),
      ports,
    );
    // The text of a record can be sent back.
    assert.equal(resolveLaunch(undefined, { image: "x", runtype: text }).image_runtype, text);
  }
});

test("a request without a mode gets the template's", () => {
  const modeOf = (fields: Fields) => resolveLaunch(templateOf(fields), {}).image_runtype;
  assert.equal(modeOf({ runtype: "ssh" }), "ssh ssh_proxy");
  assert.equal(modeOf({ runtype: "ssh", ssh_direct: true }), "ssh ssh_direc ssh_proxy");
  assert.equal(modeOf({ runtype: "jupyter" }), "jupyter jupyter_proxy ssh_proxy");
  assert.equal(modeOf({ runtype: "jupyter", jup_direct: true }), "jupyter jupyter_direc ssh_direc ssh_proxy");
  assert.equal(modeOf({ runtype: "args" }), "args");
  assert.equal(modeOf({ runtype: "args", ssh_direct: true }), "args");
  assert.equal(modeOf({ use_ssh: true, ssh_direct: true }), "ssh ssh_direc ssh_proxy");
  const direct = templateOf({ runtype: "jupyter", jup_direct: true, ssh_direct: true });
  assert.equal(resolveLaunch(direct, { runtype: "ssh" }).image_runtype, "ssh ssh_direc ssh_proxy");
  assert.equal(resolveLaunch(direct, { runtype: "ssh_proxy" }).image_runtype, "ssh ssh_proxy");
});

test("arguments come as a list or as text, and choose the entrypoint mode unless another is given", () => {
  const argsOf = (request: Fields) => resolveLaunch(undefined, { image: "x", ...request });
  assert.deepEqual(argsOf({ args: ["--a", "b c"] }).command, {
    mode: "entrypoint",
    entrypoint_shell: null,
    args: ["--a", "b c"],
  });
  assert.deepEqual(argsOf({ args: '--a "b c"' }).image_args, ["--a", "b c"]);
  assert.deepEqual(argsOf({ args_str: "--a 'b c'", onstart: "/bin/sh" }).command, {
    mode: "entrypoint",
    entrypoint_shell: '/bin/sh "$@"',
    args: ["--a", "b c"],
  });
  const script = 'setup && exec "$@"';
  assert.deepEqual(argsOf({ args: ["a"], onstart: script, runtype: "args" }).command, {
    mode: "entrypoint",
    entrypoint_shell: script,
    args: ["a"],
  });
  assert.deepEqual(argsOf({ args: [], args_str: "x" }).image_args, ["x"]);
  const template = templateOf({ args_str: "--from template" });
  assert.deepEqual(resolveLaunch(template, {}).image_args, ["--from", "template"]);
  assert.deepEqual(resolveLaunch(template, { args: ["mine"] }).image_args, ["mine"]);
});

test("registry credentials come from the request, else from the template, and stay with their registry", () => {
  const fields = { image: "ghcr.io/t/x", docker_login_user: "me", docker_login_repo: "ghcr.io" };
  const template = templateOf(fields, "secret");
  const auth = { username: "me", password: "secret", serveraddress: "ghcr.io" };
  assert.deepEqual(resolveLaunch(template, {}).registry_auth, auth);
  assert.equal(resolveLaunch(template, { image: "evil.example.com/x" }).registry_auth, null);
  assert.deepEqual(resolveLaunch(template, { image_login: "-u you -p pass ghcr.io" }).registry_auth, {
    username: "you",
    password: "pass",
    serveraddress: "ghcr.io",
  });
  const unstated = templateOf({ ...fields, docker_login_repo: "" }, "secret");
  assert.deepEqual(resolveLaunch(unstated, {}).registry_auth, auth);
  assert.equal(resolveLaunch(unstated, { image: "evil.example.com/x" }).registry_auth, null);
  assert.equal(resolveLaunch(templateOf(fields), {}).registry_auth, null);
});

test("a portal lists Jupyter only in Jupyter modes and never becomes empty", () => {
  const portal = "localhost:1111:11111:/:Instance Portal|localhost:8080:8080:/:Jupyter";
  const env = { PORTAL_CONFIG: portal };
  assert.deepEqual(resolveLaunch(undefined, { image: "x", env }).env, [
    ["PORTAL_CONFIG", "localhost:1111:11111:/:Instance Portal"],
  ]);
  assert.deepEqual(resolveLaunch(undefined, { image: "x", runtype: "jupyter", env }).env, [["PORTAL_CONFIG", portal]]);
  const only = { PORTAL_CONFIG: "localhost:8080:8080:/:Jupyter" };
  assert.equal(refusal(() => resolveLaunch(undefined, { image: "x", env: only })).extra["field"], "env");
});

test("the locale switches set variables that the renter did not", () => {
  const settings = resolveLaunch(undefined, { image: "x", env: "-e LANG=de", python_utf8: true, lang_utf8: true });
  assert.deepEqual(settings.env, [
    ["LANG", "de"],
    ["PYTHONUTF8", "1"],
    ["LC_ALL", "C.UTF-8"],
  ]);
  assert.deepEqual(settings.extra_env, [["LANG", "de"]]);
});

test("a template that recommends less than the least disk still gets it", () => {
  assert.equal(resolveLaunch(templateOf({ recommended_disk_space: 2 }), {}).disk_gb, 8);
});

test("each wrong member is refused by its name", () => {
  const cases: readonly (readonly [Fields, string])[] = [
    [{ template_id: 5 }, "template_id"],
    [{ image: undefined }, "image"],
    [{ image: "" }, "image"],
    [{ image: 5 }, "image"],
    [{ image: "UPPER" }, "image"],
    [{ image: "x".repeat(1025) }, "image"],
    [{ disk: 7.9 }, "disk"],
    [{ disk: "many" }, "disk"],
    [{ disk: 1e9 }, "disk"],
    [{ label: "x".repeat(257) }, "label"],
    [{ label: 5 }, "label"],
    [{ label: "a\0" }, "label"],
    [{ runtype: "vnc" }, "runtype"],
    [{ runtype: "args ssh" }, "runtype"],
    [{ onstart: "x".repeat(4097) }, "onstart"],
    [{ onstart: "x".repeat(4000), args: ["y".repeat(97)], runtype: "ssh" }, "onstart"],
    [{ args: [5] }, "args"],
    [{ args: "'open" }, "args"],
    [{ args_str: '"open' }, "args_str"],
    [{ env: 5 }, "env"],
    [{ env: { A: { b: 1 } } }, "env"],
    [{ image_login: "-u me" }, "image_login"],
    [{ python_utf8: "yes" }, "python_utf8"],
    [{ use_jupyter_lab: 1, runtype: "jupyter" }, "use_jupyter_lab"],
    [{ extra_filters: { gpu_ram: { like: 1 } } }, "extra_filters.gpu_ram"],
    [{ extra_filters: [] }, "extra_filters"],
    [{ user: "root; rm" }, "user"],
  ];
  for (const [request, field] of cases) {
    assert.equal(refusal(() => resolveLaunch(undefined, { image: "x", ...request })).extra["field"], field);
  }
});
