import { epochSeconds } from "../../../base/clock.ts";
import { toDollars } from "../../../base/money.ts";
import type { FoundAccount, UserResponse } from "./user-schema.ts";
import type { AccountRecord, AccountRow } from "./user-service.ts";

export function viewAccount({ user, money, instances, machineCount }: AccountRow): FoundAccount {
  return {
    id: user.id,
    email: user.email,
    is_email_proven: user.isEmailProven,
    username: user.username,
    fullname: user.fullname,
    parent_id: user.parentId ?? null,
    is_admin: user.isAdmin,
    is_team: user.isTeam,
    has_tfa: user.hasTfa,
    freeze_id: user.freezeId ?? null,
    created_at: epochSeconds(user.createdAt),
    last_seen_at: moment(user.lastSeenAt),
    credit: toDollars(money.credit),
    held: toDollars(money.held),
    earnings: toDollars(money.earnings),
    running_count: instances.running,
    instance_count: instances.kept,
    machine_count: machineCount,
  };
}

export function viewAccountRecord(record: AccountRecord): UserResponse["account"] {
  const { user, money, balance, parts, storage } = record;
  return {
    ...viewAccount(record),
    deleted_at: moment(user.deletedAt),
    counts: {
      ...parts,
      volumes: storage.volumes,
      network_disks: storage.networkDisks,
      endpoints: record.endpointCount,
      standing_requests: record.requestCount,
    },
    money: {
      credit: toDollars(balance.balanceNanos),
      available: toDollars(balance.availableNanos),
      held: toDollars(money.held),
      earnings: toDollars(money.earnings),
    },
    freezes: record.freezes.map(({ id, reason, frozenBy, frozenAt, lifted }) => ({
      ...{ id, reason, frozen_by: frozenBy, frozen_at: epochSeconds(frozenAt) },
      lifted_at: moment(lifted?.at),
      lift_reason: lifted?.reason ?? null,
    })),
    flags: record.flags.map(({ id, machineId, kind, detail, since, seenCount }) => ({
      ...{ id, machine_id: machineId ?? null, kind, msg: detail },
      ...{ since: epochSeconds(since), seen_count: seenCount },
    })),
    payout_holds: record.payoutHolds.map(({ id, kind, reason, placedAt }) => ({
      ...{ id, kind, reason, placed_at: epochSeconds(placedAt) },
    })),
  };
}

function moment(at: Date | undefined): number | null {
  return at === undefined ? null : epochSeconds(at);
}
