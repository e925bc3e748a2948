// Tests that an audit finds changes which somebody with the whole database made.
import assert from "node:assert/strict";
import { test } from "node:test";
import { audit } from "../../../server/src/domains/money/audit/audit-service.ts";
import { auditWorld, type AuditWorld } from "./audit-world.ts";

export type Tampering = {
  readonly what: string;
  /** Actions of users before the tampering. */
  readonly before?: (world: AuditWorld) => Promise<unknown>;
  readonly tamper: (world: AuditWorld) => Promise<unknown>;
  /** The one line that names it. */
  readonly named: RegExp;
};

/** The differences that an audit finds, one line for each row. */
export async function differencesIn({ env, clock }: AuditWorld): Promise<readonly string[]> {
  const { checks } = await audit({ database: env.database, clock }, { isFull: true });
  return checks.flatMap(({ name, differences }) =>
    differences.map(
      ({ subject, problem, stored, expected }) => `${name}: ${subject}: ${problem} | ${stored} | ${expected}`,
    ),
  );
}

export const bySql =
  (table: string, statement: string): Tampering["tamper"] =>
  ({ plant }) =>
    plant(table, statement);

/** Registers a test for each tampering: the audit finds exactly one difference, which names the change. */
export function testTamperings(tamperings: readonly Tampering[]): void {
  for (const { what, before = async () => {}, tamper, named } of tamperings) {
    test(`the audit names ${what} in one line`, async (t) => {
      const world = await auditWorld(t);
      await before(world);
      await tamper(world);
      const found = await differencesIn(world);
      assert.equal(found.length, 1, found.join("\n"));
      assert.match(found[0] ?? "", named);
      t.diagnostic(found[0] ?? "");
    });
  }
}
