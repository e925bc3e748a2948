import assert from "node:assert/strict";
import { test } from "node:test";
import { order } from "../../test/fixtures.ts";
import { recipeOf } from "./recipe.ts";

const notebook = order(1, {
  image: "ubuntu:24.04",
  command: { mode: "shell", onstart: "echo hi", jupyter: { token: "t", directory: null, isLab: true } },
  env: [["my_var", "a_b"]],
  ports: [{ containerPort: 8080, protocol: "tcp" }],
  ssh: { authorizedKeys: ["ssh-ed25519 AAAA"] },
  gpuUuids: ["GPU-b", "GPU-a"],
  cpuMillis: 2000,
  memoryBytes: 1e9,
  mounts: [{ volumeId: 7, mountPath: "/data", sizeBytes: 1e9 }],
});

test("an agent that is updated finds the recipes of its containers unchanged", () => {
  assert.equal(recipeOf(notebook, new Set(["GPU-a", "GPU-b"])), "98383c700d7684eb995c47e3c3881767");
  const service = order(2, { ...notebook, command: { mode: "entrypoint", entrypointShell: "run", args: null } });
  assert.equal(recipeOf(service, new Set()), "25246a066c00ef44a561e5b593398500");
});
