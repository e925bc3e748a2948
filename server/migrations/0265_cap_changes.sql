-- From when on the limit of a cap holds, and the highest limit that held shortly before; null where none did. Time before it
-- that is charged later is bounded by that limit, so that a late cap never undoes what was consumed before it.
alter table ledger_caps
  add column holds_from_at timestamptz not null default now(),
  add column limit_before_nanos bigint,
  add constraint ledger_caps_limit_before check (limit_before_nanos >= 0);

update ledger_caps set holds_from_at = created_at;

-- Each change of a cap as its owner made it: what a cap says now follows from these alone. A null limit removes the cap.
create table ledger_cap_changes (
  id bigint primary key generated always as identity,
  user_id integer not null references users (id),
  scope text not null,
  period text not null,
  limit_nanos bigint constraint ledger_cap_changes_limit check (limit_nanos >= 0),
  changed_at timestamptz not null,
  holds_from_at timestamptz not null,
  constraint ledger_cap_changes_holds_from check (holds_from_at >= changed_at)
);
create index ledger_cap_changes_cap on ledger_cap_changes (user_id, scope, period, id);

create trigger ledger_cap_changes_append_only before update or delete on ledger_cap_changes
  for each row execute function ledger_refuse_change();
create trigger ledger_cap_changes_no_truncate before truncate on ledger_cap_changes
  for each statement execute function ledger_refuse_change();

insert into ledger_cap_changes (user_id, scope, period, limit_nanos, changed_at, holds_from_at)
select user_id, scope, period, limit_nanos, created_at, created_at from ledger_caps order by id;
