import assert from "node:assert/strict";
import { test } from "node:test";
import { readSnapshotImage } from "./snapshot-image.ts";

test("a snapshot goes to the registry and repository that were named, under a tag of its own", () => {
  for (const [request, repository, tag] of [
    [{ personal_repo: "me/app" }, "me/app", "own"],
    [{ personal_repo: "me/app:v2", container_registry: "docker.io" }, "me/app", "v2"],
    [{ personal_repo: "me/app", container_registry: "index.docker.io" }, "me/app", "own"],
    [{ personal_repo: "me/app", container_registry: "ghcr.io/" }, "ghcr.io/me/app", "own"],
    [{ personal_repo: "app", container_registry: "ghcr.io/team" }, "ghcr.io/team/app", "own"],
    [{ personal_repo: "127.0.0.1:5000/app" }, "127.0.0.1:5000/app", "own"],
    [{ personal_repo: "ghcr.io/me/app", container_registry: "ghcr.io" }, "ghcr.io/me/app", "own"],
  ] as const) {
    const image = readSnapshotImage(request, "own");
    assert.deepEqual(image, { repository, tag, registry_auth: null }, JSON.stringify(request));
  }
});

test("credentials are for the registry that the snapshot goes to", () => {
  const login = { docker_login_user: "u", docker_login_pass: "p" };
  const hub = readSnapshotImage({ personal_repo: "me/app", ...login }, "own");
  assert.deepEqual(hub.registry_auth, { username: "u", password: "p", serveraddress: "docker.io" });
  const own = readSnapshotImage({ personal_repo: "me/app", container_registry: "r.example:5000", ...login }, "own");
  assert.equal(own.registry_auth?.serveraddress, "r.example:5000");
});

test("an invalid repository, and half of a login, are refused by their field", () => {
  for (const [request, field] of [
    [{}, "personal_repo"],
    [{ personal_repo: " " }, "personal_repo"],
    [{ personal_repo: "UPPER/app" }, "personal_repo"],
    [{ personal_repo: "me/app:ta g" }, "personal_repo"],
    [{ personal_repo: `me/app@sha256:${"0".repeat(64)}` }, "personal_repo"],
    [{ personal_repo: "me/app", container_registry: "word" }, "container_registry"],
    [{ personal_repo: "me/app", container_registry: "https://ghcr.io" }, "container_registry"],
    [{ personal_repo: "ghcr.io/me/app", container_registry: "quay.io" }, "container_registry"],
    [{ personal_repo: "me/app", docker_login_user: "u" }, "docker_login_pass"],
    [{ personal_repo: "me/app", docker_login_pass: "p" }, "docker_login_user"],
  ] as const) {
    assert.throws(
      () => readSnapshotImage(request, "own"),
      (error: { extra: { field: string } }) => error.extra.field === field,
      JSON.stringify(request),
    );
  }
});
