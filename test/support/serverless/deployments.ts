import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { TestApp } from "../app.ts";
import type { TestCaller } from "../fixtures.ts";
import type { TestAnswer } from "../network/http.ts";

export type TestCode = { readonly bytes: Buffer; readonly hash: string };

/** Code that is unlike all other code; its content matters to its workers only. */
export function someCode(sizeBytes = 3_000): TestCode {
  const bytes = randomBytes(sizeBytes);
  return { bytes, hash: createHash("sha256").update(bytes).digest("hex") };
}

export function deployBody(code: TestCode, more: Readonly<Record<string, unknown>> = {}) {
  return {
    name: "square",
    image: "busybox",
    file_hash: code.hash,
    file_size: code.bytes.length,
    storage: 10,
    cold_workers: 0,
    min_load: 0,
    max_workers: 3,
    ...more,
  };
}

export async function put(
  world: TestApp,
  owner: TestCaller,
  code: TestCode,
  more: Readonly<Record<string, unknown>> = {},
): Promise<TestAnswer> {
  return world.call({
    method: "PUT",
    url: "/api/v0/deployments/",
    secret: owner.secret,
    body: deployBody(code, more),
  });
}

/** Sends a form as the published client does, over a connection of its own. */
export async function upload(
  world: TestApp,
  { upload_url: url, upload_fields: fields }: Readonly<Record<string, unknown>>,
  bytes: Uint8Array,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields ?? {})) form.append(name, String(value));
  form.append("file", new Blob([Uint8Array.from(bytes)]), "code.tar.gz");
  const response = await fetch(`http://${world.origin}${new URL(String(url)).pathname}`, {
    method: "POST",
    body: form,
  });
  const body: unknown = await response.json();
  assert.ok(typeof body === "object" && body !== null);
  return { status: response.status, body: { ...body } };
}

/** A deployment whose code is there. */
export async function deployed(
  world: TestApp,
  owner: TestCaller,
  code: TestCode,
  more: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly id: number; readonly endpointId: number; readonly groupId: number }> {
  const made = await put(world, owner, code, more);
  assert.equal(made.status, 200, made.text);
  if (made.body.upload_url !== undefined) {
    const sent = await upload(world, made.body, code.bytes);
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
  }
  const { deployment_id: id, endpoint_id: endpointId } = made.body;
  return { id, endpointId, groupId: (await shown(world, owner, id)).workergroup_id };
}

export async function shown(world: TestApp, owner: TestCaller, id: number) {
  const { status, body, text } = await world.call({ url: `/api/v0/deployment/${id}/`, secret: owner.secret });
  assert.equal(status, 200, text);
  return body.deployment;
}

export async function versionsOf(world: TestApp, owner: TestCaller, id: number) {
  const { body } = await world.call({ url: `/api/v0/deployment/${id}/versions/`, secret: owner.secret });
  return body.versions;
}

/** The number of stored files and pieces of code, of all users. */
export async function storedCode({ env }: TestApp): Promise<readonly [files: number, pieces: number]> {
  const { rows } = await env.pool.query<{ files: number; pieces: number }>(
    `select (select count(*)::integer from deployment_files) as files,
       (select count(*)::integer from deployment_file_pieces) as pieces`,
  );
  return [rows[0]?.files ?? 0, rows[0]?.pieces ?? 0];
}
