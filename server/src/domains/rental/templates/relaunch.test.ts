import assert from "node:assert/strict";
import { test } from "node:test";
import { readNewContent } from "./rules/content.ts";
import { resolveLaunch } from "./rules/launch.ts";
import { resolveRelaunch } from "./rules/relaunch.ts";

const CREATION = {
  image: "registry.example/app:1",
  image_login: "-u me -p secret registry.example",
  runtype: "jupyter_direc ssh_direc ssh_proxy",
  env: "-e A=1 -e 'B=two words' -p 8081:8081 -p 70000:70000 -h box -v V.7:/data",
  onstart: "echo hello",
  jupyter_dir: "/work",
  use_jupyter_lab: true,
  python_utf8: true,
  lang_utf8: true,
  user: "me:me",
  disk: 20,
  label: "mine",
};

test("without changes an instance starts with exactly what it has", () => {
  for (const request of [
    CREATION,
    { image: "busybox", args: ["sh", "-c", "sleep 1"] },
    { image: "busybox", runtype: "args", args_str: "a 'b c'", onstart: "/bin/sh", disk: 9 },
    { image: "app@vastai-automatic-tag" },
  ]) {
    const current = resolveLaunch(undefined, request);
    assert.deepEqual(resolveRelaunch(current, undefined, {}), current);
    const nothing = { image: null, env: null, args: undefined, disk: 500, label: "other", runtype: "args" };
    assert.deepEqual(
      resolveRelaunch(current, undefined, nothing),
      current,
      "fields that may not be changed are ignored",
    );
  }
});

test("changes are merged as at a creation: scalars replace, options go by name", () => {
  const current = resolveLaunch(undefined, CREATION);
  const changed = resolveRelaunch(current, undefined, {
    image: "registry.example/app:2",
    env: { A: "3", C: "4" },
    onstart: "",
  });
  assert.deepEqual(Object.fromEntries(changed.env), { A: "3", B: "two words", C: "4", PYTHONUTF8: "1", LANG: "C.UTF-8", LC_ALL: "C.UTF-8" }); // prettier-ignore
  assert.deepEqual([changed.image, changed.onstart, changed.disk_gb], ["registry.example/app:2", null, 20]);
  assert.deepEqual(changed.ports, current.ports);
  assert.deepEqual(changed.registry_auth, current.registry_auth);
  const args = resolveLaunch(undefined, { image: "busybox", args: ["true"] });
  assert.deepEqual(resolveRelaunch(args, undefined, { args: "sleep 5" }).image_args, ["sleep", "5"]);
});

test("credentials do not go along to another registry", () => {
  const current = resolveLaunch(undefined, CREATION);
  assert.equal(resolveRelaunch(current, undefined, { image: "elsewhere.example/app:1" }).registry_auth, null);
});

test("a template takes the place of the settings; disk, label and user stay", () => {
  const current = resolveLaunch(undefined, CREATION);
  const content = readNewContent({
    name: "t",
    image: "busybox",
    runtype: "ssh",
    env: "-e T=1",
    recommended_disk_space: 50,
  });
  const changed = resolveRelaunch(
    current,
    { content, docker_login_pass: "" },
    { env: "-e U=2", image_login: "-u a -p b" },
  );
  assert.deepEqual(changed.extra_env, [["T", "1"], ["U", "2"]]); // prettier-ignore
  assert.deepEqual([changed.image, changed.runtype.mode, changed.registry_auth], ["busybox:latest", "ssh", null]);
  assert.deepEqual([changed.disk_gb, changed.label, changed.user], [20, "mine", "me:me"]);
});

test("a volume cannot come in with new settings", () => {
  const current = resolveLaunch(undefined, CREATION);
  assert.throws(() => resolveRelaunch(current, undefined, { env: "-v V.8:/other" }), /volume 8 cannot be attached/);
  assert.deepEqual(resolveRelaunch(current, undefined, { env: "-v V.7:/data" }).volume_links, current.volume_links);
});

test("a wrong change is refused by its field", () => {
  const current = resolveLaunch(undefined, CREATION);
  for (const [field, value] of [
    ["image", "UPPER"],
    ["env", { "-p": "x" }],
    ["onstart", "x".repeat(5000)],
    ["args", [1]],
  ] as const) {
    assert.throws(
      () => resolveRelaunch(current, undefined, { [field]: value }),
      (error: { extra: { field: string } }) => error.extra.field === field,
      field,
    );
  }
});
