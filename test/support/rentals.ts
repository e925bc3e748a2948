import assert from "node:assert/strict";
import type { TestApp } from "./app.ts";
import type { FakeHost } from "./hosts/fake-host.ts";
import type { TestCaller } from "./fixtures.ts";
import type { TestAnswer } from "./network/http.ts";

export type RentOptions = Readonly<Record<string, unknown>> & { readonly size?: number };

/** Asks for an instance on a machine, in the offer of the given size; the body defaults to a bare image. */
export async function askFor(
  world: TestApp,
  user: TestCaller,
  host: FakeHost,
  { size = 1, ...body }: RentOptions = {},
): Promise<TestAnswer> {
  const offerId = (await world.offersOf(host)).get(size);
  assert.ok(offerId, `no offer of ${size}`);
  return world.call({
    method: "PUT",
    url: `/api/v0/asks/${offerId}/`,
    secret: user.secret,
    body: { image: "busybox", ...body },
  });
}

/** Rents, which must succeed; returns the instance's id. */
export async function rent(world: TestApp, user: TestCaller, host: FakeHost, options: RentOptions = {}) {
  const answer = await askFor(world, user, host, options);
  assert.equal(answer.status, 200, answer.text);
  return Number(answer.body.new_contract);
}

/** Rents and lets the host bring it up. */
export async function rentAndRun(world: TestApp, user: TestCaller, host: FakeHost, options: RentOptions = {}) {
  const id = await rent(world, user, host, options);
  await host.obey();
  assert.equal((await show(world, user, id)).actual_status, "running");
  return id;
}

/** An instance as its owner sees it; null when there is none. */
export async function show(world: TestApp, user: TestCaller, id: number) {
  const answer = await world.call({ url: `/api/v0/instances/${id}/`, secret: user.secret });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.instances;
}

export function setState(world: TestApp, user: TestCaller, id: number, state: "running" | "stopped") {
  return world.call({ method: "PUT", url: `/api/v0/instances/${id}/`, secret: user.secret, body: { state } });
}

export function reboot(world: TestApp, user: TestCaller, id: number): Promise<TestAnswer> {
  return world.call({ method: "PUT", url: `/api/v0/instances/reboot/${id}/`, secret: user.secret, body: {} });
}

export function destroy(world: TestApp, user: TestCaller, id: number): Promise<TestAnswer> {
  return world.call({ method: "DELETE", url: `/api/v0/instances/${id}/`, secret: user.secret, body: {} });
}

export function changeBid(world: TestApp, user: TestCaller, id: number, price: unknown): Promise<TestAnswer> {
  return world.call({
    method: "PUT",
    url: `/api/v0/instances/bid_price/${id}/`,
    secret: user.secret,
    body: { client_id: "me", price },
  });
}

export type StoredInstance = {
  readonly phase: string;
  readonly desired: string;
  readonly generation: number;
  readonly cause: string;
  readonly leases: number;
  readonly hold: bigint | null;
};

/** The rows behind an instance, of any owner. */
export async function stored({ env }: TestApp, id: number): Promise<StoredInstance> {
  const { rows } = await env.pool.query<StoredInstance>(
    `select phase, desired, generation, phase_cause as cause, t.hold_id as hold,
       (select count(*)::integer from leases where instance_id = i.id and released_at is null) as leases
     from instances i join instance_tabs t on t.instance_id = i.id where id = $1`,
    [id],
  );
  assert.ok(rows[0], `no instance ${id}`);
  return rows[0];
}

/** `[from, to, cause]` of each change of phase, in order. */
export async function history({ env }: TestApp, id: number): Promise<readonly (string | null)[][]> {
  const { rows } = await env.pool.query(
    "select from_phase, to_phase, cause from instance_events where instance_id = $1 order by id",
    [id],
  );
  return rows.map((row: Record<string, string | null>) => [
    row["from_phase"] ?? null,
    row["to_phase"] ?? null,
    row["cause"] ?? null,
  ]);
}
