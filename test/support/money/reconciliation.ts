import assert from "node:assert/strict";
import { listFindings } from "../../../server/src/domains/money/audit/findings/finding-store.ts";
import { testApp, type TestApp } from "../app.ts";
import type { FakeHost } from "../hosts/fake-host.ts";
import type { TestCaller } from "../fixtures.ts";
import { rentAndRun } from "../rentals.ts";

export const MINUTE_MS = 60_000;
/** The counts of a run of the reconciliation that finds nothing; one that finds something has those below. */
export const SILENCE = { found: 0, repaired: 0, told: 0, alarmed: 0 };
export const ONE_REPAIR = { found: 1, repaired: 1, told: 0, alarmed: 0 };
export const ONE_ALARM = { found: 1, repaired: 0, told: 0, alarmed: 1 };
export const ONE_ORDER = { found: 1, repaired: 0, told: 1, alarmed: 0 };

export type Scene = {
  readonly world: TestApp;
  readonly host: FakeHost;
  readonly renter: TestCaller;
  readonly id: number;
  /** Lets a minute pass and runs the loop. */
  readonly next: () => Promise<unknown>;
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;
};

/** A running instance, settled three minutes after its start; the reconciliation finds nothing. */
export async function aScene(t: Parameters<typeof testApp>[0]): Promise<Scene> {
  const world = await testApp(t);
  const renter = await world.caller();
  const host = await world.host({ gpus: 2 });
  const id = await rentAndRun(world, renter, host);
  for (let minute = 0; minute < 3; minute += 1) {
    world.clock.jump(MINUTE_MS);
    await host.obey();
    await world.runLoop("settle-runs");
  }
  const next = async () => {
    world.clock.jump(MINUTE_MS);
    return world.runLoop("reconcile");
  };
  assert.deepEqual(await next(), SILENCE);
  const sql: Scene["sql"] = async (text, values = []) => (await world.env.pool.query(text, [...values])).rows;
  return { world, host, renter, id, next, sql };
}

export async function findingsOf({ world }: Scene) {
  const findings = await listFindings(world.env.database.kysely, 100);
  return findings.map(({ kind, subject, outcome, foundCount }) => ({ kind, subject, outcome, foundCount }));
}
