// Debian's registry, as people run it themselves.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { REGISTRY_LOGIN, startPrivateRegistry } from "../../../../../../test/support/hosts/registry.ts";

const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";

/** Stores an image without layers under this name, as a client of the registry API does. */
async function upload(address: string, repository: string, tag: string): Promise<void> {
  const { user, password } = REGISTRY_LOGIN;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const send = async (url: string, method: string, body: string, type: string) => {
    const answer = await fetch(url, { method, body, headers: { authorization, "content-type": type } });
    assert.ok(answer.ok, `${method} ${url}: ${answer.status} ${await answer.text()}`);
    return answer.headers.get("location") ?? "";
  };
  const config = "{}";
  const digest = `sha256:${createHash("sha256").update(config).digest("hex")}`;
  const base = `http://${address}/v2/${repository}`;
  const location = new URL(await send(`${base}/blobs/uploads/`, "POST", "", "application/octet-stream"));
  location.searchParams.set("digest", digest);
  await send(location.href, "PUT", config, "application/octet-stream");
  const manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: { mediaType: "application/vnd.oci.image.config.v1+json", digest, size: config.length },
    layers: [],
  };
  await send(`${base}/manifests/${tag}`, "PUT", JSON.stringify(manifest), MANIFEST_TYPE);
}

test("a real registry shows its tags and its repositories to its login alone", async (t) => {
  const registry = await startPrivateRegistry();
  t.after(() => registry.close());
  for (const tag of ["v1", "v2"]) await upload(registry.address, "team/app", tag);
  const world = await testApp(t, { notifications: { isPrivateAllowed: true } });
  const { secret } = await world.caller();
  const ask = (path: string, body: unknown) =>
    world.call({ method: "POST", url: `/api/v1/templates/${path}/`, secret, body });
  const login = { username: REGISTRY_LOGIN.user, token: REGISTRY_LOGIN.password };
  const image = `${registry.address}/team/app`;
  const tags = await ask("fetch-tags", { image, ...login });
  assert.deepEqual([tags.status, tags.body.tags?.toSorted()], [200, ["v1", "v2"]], tags.text);
  const checked = await ask("validate-auth", { server: registry.address, ...login });
  assert.deepEqual(checked.body, { success: true, authenticated: true, repositories: ["team/app"] });
  const wrong = { ...login, token: "wrong" };
  for (const answer of [
    await ask("fetch-tags", { image, ...wrong }),
    await ask("fetch-tags", { image }),
    await ask("validate-auth", { server: registry.address, ...wrong }),
  ]) {
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.error, /^(registry_error|auth_failed)$/);
  }
});
