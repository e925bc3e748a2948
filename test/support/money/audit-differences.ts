import assert from "node:assert/strict";
import { audit } from "../../../server/src/domains/money/audit/audit-service.ts";
import type { AuditWorld } from "./audit-world.ts";

/** Differences that an audit of the world finds, each as `check: subject: problem`. */
export async function differencesIn(world: AuditWorld, isFull = false): Promise<readonly string[]> {
  const report = await audit({ database: world.env.database, clock: world.clock }, { isFull });
  const found = report.checks.flatMap(({ name, differences }) =>
    differences.map(({ subject, problem }) => `${name}: ${subject}: ${problem}`),
  );
  assert.equal(report.isSound, found.length === 0);
  return found;
}
