import assert from "node:assert/strict";
import { test } from "node:test";
import { createFactSigner } from "../../../base/facts.ts";
import { followFreezes, insertFreeze } from "../../people/accounts/for-freezes.ts";
import { deleteCap } from "../ledger/for-limits.ts";
import { nanos } from "../../../base/money.ts";
import { placePayoutHold, takeBackEarnings } from "../payments/index.ts";
import { auditWorld, type AuditWorld } from "../../../../../test/support/money/audit-world.ts";
import {
  aCap,
  aGrant,
  aPayout,
  asPerson,
  aTransfer,
  dropLastLinks,
  forgeGrant,
  forgeLink,
  forgeRefund,
  forgeTransfer,
  removeTransfer,
  settlePayout,
} from "../../../../../test/support/money/tampering.ts";
import {
  bySql,
  differencesIn,
  testTamperings,
  type Tampering,
} from "../../../../../test/support/money/tampering-tests.ts";

const TAMPERINGS: readonly Tampering[] = [
  {
    what: "a forged grant of $500",
    tamper: forgeGrant,
    named:
      /^facts: transfer \d+: nobody asked for it: it has no fact \| credit_granted of \$500 from issuance to credit/,
  },
  {
    what: "a forged transfer",
    tamper: (world) =>
      forgeTransfer(world, {
        from: ["credit", world.renterId],
        to: ["credit", world.hostId],
        dollars: 30,
        code: "credit_transfer",
        key: "credit_transfer:forged",
      }).then((id) =>
        world.sql(
          `insert into audit_events (user_id, ip_address, action, arguments, created_at)
           values ($1, '', 'api.billing.transfer_credit', jsonb_build_object('transfer_id', $2::bigint), $3)`,
          [world.renterId, id, world.clock.now()],
        ),
      ),
    named: /^facts: transfer \d+: nobody asked for it: it has no fact \| credit_transfer of \$30/,
  },
  {
    what: "a swapped recipient",
    before: aTransfer,
    tamper: async (world) => {
      const { plant, sql, hostId } = world;
      const thief = await aThief(world);
      await plant(
        "ledger_transfers",
        "update ledger_transfers set credit_account_id = $1 where key = 'credit_transfer:1'",
        [thief],
      );
      await sql(
        "update ledger_accounts set balance_nanos = balance_nanos + 5000000000, granted_nanos = 5000000000 where id = $1",
        [thief],
      );
      await sql(
        "update ledger_accounts set balance_nanos = balance_nanos - 5000000000, granted_nanos = 0 where user_id = $1 and kind = 'credit'",
        [hostId],
      );
    },
    named:
      /^facts: transfer \d+: it is not what was done by user \d+ with key 3 .*request f00d-1.* \| to credit of user \d+ \| to credit of user \d+/,
  },
  {
    what: "another amount of a grant",
    before: aGrant,
    tamper: async ({ plant, sql, renterId }) => {
      await plant(
        "ledger_transfers",
        "update ledger_transfers set amount_nanos = 90000000000 where description = 'thanks'",
      );
      await sql("update ledger_accounts set balance_nanos = balance_nanos - 70000000000 where kind = 'issuance'");
      await sql(
        "update ledger_accounts set balance_nanos = balance_nanos + 70000000000 where user_id = $1 and kind = 'credit'",
        [renterId],
      );
    },
    named: /^facts: transfer \d+: it is not what was done .* \| amount \$90 \| amount \$20/,
  },
  {
    what: "a forged refund",
    tamper: forgeRefund,
    named: /^facts: transfer \d+: nobody asked for it: it has no fact \| refund of \$40 from stripe to credit/,
  },
  {
    what: "a grant moved by a month",
    before: aGrant,
    tamper: bySql(
      "ledger_transfers",
      "update ledger_transfers set created_at = created_at - interval '1 month' where description = 'thanks'",
    ),
    named:
      /^facts: transfer \d+: it is not what was done .* \| at 2026-02-01T12:00:00.000Z \| at 2026-03-01T12:00:00.000Z/,
  },
  {
    what: "a grant under the name of another administrator",
    before: aGrant,
    tamper: ({ plant, renterId }) =>
      plant(
        "ledger_transfers",
        `update ledger_transfers set cause = cause || jsonb_build_object('actor_id', $1::integer)
         where description = 'thanks'`,
        [renterId],
      ),
    named:
      /^facts: transfer \d+: it is not what was done by user \d+ .* \| cause \{"actor_id":\d+,"api_key_id":3\} \| cause/,
  },
  {
    what: "a deleted transfer",
    before: aGrant,
    tamper: async (world) => {
      const [row] = await world.sql("select key from ledger_transfers where description = 'thanks'");
      await removeTransfer(world, String(row?.["key"]));
    },
    named: /^facts: transfer \d+: it is gone: it was made by user \d+ .* \| none \| credit_granted of \$20/,
  },
  {
    what: "a deleted event of the audit log",
    before: aGrant,
    tamper: bySql("audit_events", "delete from audit_events where action = 'api.admin.credit'"),
    named: /^facts: audit event \d+: it is gone: it was made by user \d+ .* \| none \| api.admin.credit of user \d+/,
  },
  {
    what: "a deleted event of a credit transfer",
    before: aTransfer,
    tamper: bySql("audit_events", "delete from audit_events where action = 'api.billing.transfer_credit'"),
    named: /^facts: transfer \d+: the audit log of its user does not mention it any more/,
  },
  {
    what: "an event of the audit log with another user",
    before: aGrant,
    tamper: ({ sql, renterId }) =>
      sql("update audit_events set user_id = $1 where action = 'api.admin.credit'", [renterId]),
    named: /^facts: audit event \d+: it was changed: it is not what was noted by user \d+/,
  },
  {
    what: "an event of a credit transfer from another address",
    before: aTransfer,
    tamper: bySql("audit_events", "update audit_events set ip_address = '192.0.2.1'"),
    named: /^facts: audit event \d+: it describes transfer \d+ differently/,
  },
  {
    what: "an event of the audit log without an action",
    tamper: ({ sql, renterId, clock }) =>
      sql(
        `insert into audit_events (user_id, ip_address, action, arguments, created_at)
         values ($1, '', 'api.admin.credit', '{}', $2)`,
        [renterId, clock.now()],
      ),
    named: /^facts: audit event \d+: nobody did this: it has no fact/,
  },
  {
    what: "a payout set to paid by hand",
    before: aPayout,
    tamper: ({ plant, clock }) =>
      plant("payouts", "update payouts set state = 'paid', reference = 'wire 9', settled_at = $1", [clock.now()]),
    named:
      /^facts: payout \d+: it is not what was done .* \| state paid, reference wire 9 \| state open, reference null/,
  },
  {
    what: "a paid payout set back to be paid again",
    before: async (world) => {
      await aPayout(world);
      await settlePayout(world);
    },
    tamper: bySql("payouts", "update payouts set state = 'pending', reference = null, settled_at = null"),
    named:
      /^facts: payout \d+: it is not what was done .* \| state open, reference null \| state paid, reference wire 1/,
  },
  {
    what: "a hold on payouts that was released by hand",
    before: (world) =>
      asPerson(world, (tx) => placePayoutHold(tx, { userId: world.hostId, kind: "operator", reason: "under review" })),
    tamper: bySql("payout_holds", "update payout_holds set released_at = placed_at, release_reason = 'fine'"),
    named: /^facts: payout hold \d+: it is not what was done .* \| is_open false \| is_open true/,
  },
  {
    what: "a deleted hold on payouts",
    before: (world) =>
      asPerson(world, (tx) => placePayoutHold(tx, { userId: world.hostId, kind: "operator", reason: "under review" })),
    tamper: bySql("payout_holds", "delete from payout_holds"),
    named: /^facts: payout hold \d+: it is gone/,
  },
  {
    what: "a taking back of earnings without an administrator",
    tamper: (world) =>
      forgeTransfer(world, {
        from: ["earnings", world.hostId],
        to: ["losses", null],
        dollars: 1,
        code: "earnings_taken_back",
        key: "earnings_taken_back:forged",
      }),
    named: /^facts: transfer \d+: nobody asked for it: it has no fact \| earnings_taken_back of \$1 from earnings/,
  },
  {
    what: "another reason for earnings that were taken back",
    before: (world) =>
      asPerson(world, (tx) =>
        takeBackEarnings(tx, {
          userId: world.hostId,
          amount: nanos(100_000_000n),
          reason: "never ran",
          reference: "case-1",
          actorId: world.renterId,
        }),
      ),
    tamper: bySql(
      "ledger_transfers",
      "update ledger_transfers set description = 'Thanks' where code = 'earnings_taken_back'",
    ),
    named: /^facts: transfer \d+: it is not what was done .* \| why Thanks \| why Earnings taken back: never ran/,
  },
  {
    what: "a freeze of an account that was lifted by hand",
    before: aFreeze,
    tamper: bySql(
      "account_freezes",
      "update account_freezes set lifted_by = frozen_by, lifted_at = frozen_at, lift_reason = 'fine', lift_request_id = ''",
    ),
    named: /^facts: freeze \d+: it is not what was done .* \| is_open false, is_in_force false \| is_open true/,
  },
  {
    what: "a frozen account that may act again although its freeze is open",
    before: aFreeze,
    tamper: ({ sql }) => sql("update users set freeze_id = null"),
    named: /^facts: freeze \d+: it is not what was done .* \| is_in_force false \| is_in_force true/,
  },
  {
    what: "a raised cap",
    before: aCap,
    tamper: async ({ plant }) => {
      await plant("ledger_caps", "update ledger_caps set limit_nanos = 99000000000");
      await plant("ledger_cap_changes", "update ledger_cap_changes set limit_nanos = 99000000000");
    },
    named: /^facts: cap \d+: it is not what was done by user \d+ .* \| limit \$99 \| limit \$10/,
  },
  {
    what: "a deleted cap",
    before: aCap,
    tamper: async ({ plant }) => {
      await plant("ledger_caps", "delete from ledger_caps");
      await plant("ledger_cap_changes", "delete from ledger_cap_changes");
    },
    named: /^facts: cap \d+: it is gone/,
  },
  {
    what: "a fact whose request was changed",
    before: aGrant,
    tamper: bySql("facts", "update facts set text = replace(text, 'f00d-1', 'f00d-2')"),
    named: /^facts: link \d+: a fact of it was changed, added or taken away: it is about transfer \d+, audit event \d+/,
  },
  {
    what: "a fact that was deleted with its transfer",
    before: aGrant,
    tamper: async (world) => {
      const [row] = await world.sql("select id, key from ledger_transfers where description = 'thanks'");
      await removeTransfer(world, String(row?.["key"]));
      await world.plant("facts", "delete from facts where kind = 'transfer' and subject = $1", [String(row?.["id"])]);
    },
    named: /^facts: link \d+: a fact of it was changed, added or taken away: it is about audit event \d+/,
  },
  {
    what: "a forged grant with a fact and a link of its own",
    tamper: async (world) => {
      const id = await forgeGrant(world);
      const [row] = await world.sql("select cause from ledger_transfers where id = $1", [id]);
      const content = {
        key: "credit_granted:forged",
        code: "credit_granted",
        from: "issuance",
        to: `credit of user ${world.renterId}`,
        amount: "500000000000",
        cause: row?.["cause"],
        why: "forged",
      };
      const fact = { kind: "transfer", subject: String(id), at: world.clock.now(), by: "server", request: null };
      const thief = createFactSigner(Buffer.from("not the server's secret"));
      const signature = thief.sign({ number: 1n, sha256: "" });
      await forgeLink(world, JSON.stringify({ ...fact, ...content }), signature);
    },
    named: /^facts: link \d+: the server did not sign it: it was forged, .* it is about transfer \d+/,
  },
  {
    what: "the last movement deleted with its link, and the head reset",
    before: aPayoutHold,
    tamper: async (world) => {
      await world.plant("payout_holds", "delete from payout_holds");
      await dropLastLinks(world, 1);
    },
    named: /^facts: link \d+: taken away from the end: this server saw it/,
  },
];

function aFreeze(world: AuditWorld): Promise<unknown> {
  const { hostId: frozenBy, renterId: userId } = world;
  return asPerson(world, async (tx) => {
    await insertFreeze(tx, { userId, reason: "review", frozenBy });
    await followFreezes(tx, userId);
  });
}

function aPayoutHold(world: AuditWorld): Promise<unknown> {
  return asPerson(world, (tx) => placePayoutHold(tx, { userId: world.hostId, kind: "operator", reason: "review" }));
}

/** The credit account of a user without any movement. */
async function aThief({ sql, clock }: AuditWorld): Promise<unknown> {
  const [user] = await sql(
    "insert into users (email, username, created_at) values ('thief@example.com', 'thief', $1) returning id",
    [clock.now()],
  );
  const [account] = await sql("insert into ledger_accounts (user_id, kind) values ($1, 'credit') returning id", [
    user?.["id"],
  ]);
  return account?.["id"];
}

testTamperings(TAMPERINGS);

test("actions of people cause no difference, nor do their reversals", async (t) => {
  const world = await auditWorld(t);
  await aGrant(world);
  await aTransfer(world);
  await aCap(world);
  await aCap(world, 20_000_000_000n);
  const [cap] = await world.sql("select id, user_id from ledger_caps");
  await asPerson(world, (tx) => deleteCap(tx, world.renterId, Number(cap?.["id"]) as Parameters<typeof deleteCap>[2]));
  assert.deepEqual(await differencesIn(world), []);
});
