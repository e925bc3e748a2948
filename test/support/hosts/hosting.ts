import assert from "node:assert/strict";
import type { TestApp } from "../app.ts";
import type { FakeHost } from "./fake-host.ts";
import type { TestCaller } from "../fixtures.ts";
import type { TestAnswer } from "../network/http.ts";

/** Lists a machine of this host, or lists it again. */
export function listMachine(
  world: TestApp,
  owner: TestCaller,
  machine: number,
  body: object = {},
): Promise<TestAnswer> {
  const url = "/api/v0/machines/create_asks/";
  return world.call({ method: "PUT", url, secret: owner.secret, body: { machine, ...body } });
}

/** Asks for something of one machine of this host. */
export function ofMachine(
  world: TestApp,
  by: TestCaller,
  { machineId }: Pick<FakeHost, "machineId">,
  [method, path, body]: readonly ["GET" | "PUT" | "POST" | "DELETE", string, object?],
): Promise<TestAnswer> {
  const url = `/api/v0/machines/${machineId}/${path}`;
  return world.call({ method, url, secret: by.secret, ...(body === undefined ? {} : { body }) });
}

/** A machine as its host sees it. */
export async function machineRecord(world: TestApp, owner: TestCaller, host: Pick<FakeHost, "machineId">) {
  const answer = await ofMachine(world, owner, host, ["GET", ""]);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.length, 1);
  return answer.body[0];
}
