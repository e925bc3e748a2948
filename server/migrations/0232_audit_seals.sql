-- What an audit found right is sealed, so that the next one reads what came after. And what the reconciliation found.

-- Everything that was moved and charged before `until_at`, the beginning of a day of UTC. Each seal says what its audit
-- read since the seal before; its checksums go over those of that one, so that no older row changes unnoticed.
create table audit_seals (
  until_at timestamptz primary key,
  -- Nothing that was moved or charged at that moment or later has a smaller id.
  next_transfer_id bigint not null check (next_transfer_id > 0),
  next_line_id bigint not null check (next_line_id > 0),
  transfer_count bigint not null check (transfer_count >= 0),
  line_count bigint not null check (line_count >= 0),
  transfers_sha256 text not null check (length(transfers_sha256) = 64),
  lines_sha256 text not null check (length(lines_sha256) = 64),
  sealed_at timestamptz not null
);

-- What the sealed transfers together made of each account that they touched.
create table audit_sums (
  account_id integer primary key,
  posted_nanos numeric not null
);

-- Up to where the sealed lines charge each component of a contract: a counter of its run, or for disks a time.
create table audit_marks (
  contract text not null check (contract in ('instance', 'volume')),
  contract_id integer not null,
  -- 0 for disks.
  generation integer not null,
  component text not null check (component in ('gpu', 'disk', 'bwu', 'bwd')),
  position bigint not null check (position >= 0),
  reached_at timestamptz not null,
  -- Up to where it was charged before there were lines.
  origin_position bigint not null default 0 check (origin_position >= 0),
  primary key (contract, contract_id, generation, component)
);

insert into audit_marks (contract, contract_id, generation, component, position, reached_at, origin_position)
select 'instance', r.instance_id, r.generation, c.component, c.charged, r.last_counted_at, c.charged
from instance_runs r
cross join lateral (
  values ('gpu', r.charged_running_ms), ('bwd', r.charged_received_bytes), ('bwu', r.charged_sent_bytes)
) as c (component, charged)
where c.charged > 0;

-- Usage that was charged before there were lines has none: the first transfer that must have one.
create table audit_origin (
  is_only boolean primary key default true check (is_only),
  next_transfer_id bigint not null
);

insert into audit_origin (next_transfer_id) select coalesce(max(id), 0) + 1 from ledger_transfers;

-- What the reconciliation repaired, or could only report: one row for each thing, however often it is found.
create table reconciliation_findings (
  id bigint generated always as identity primary key,
  kind text not null constraint reconciliation_findings_kind check (kind ~ '^[a-z_]{1,60}$'),
  -- What it is about: `hold 7`, `instance 12`.
  subject text not null check (length(subject) between 1 and 100),
  outcome text not null constraint reconciliation_findings_outcome check (outcome in ('repaired', 'told', 'alarmed')),
  actor text not null default 'rule',
  details jsonb not null,
  first_found_at timestamptz not null,
  last_found_at timestamptz not null,
  found_count integer not null default 1 check (found_count > 0)
);

create unique index reconciliation_findings_subject on reconciliation_findings (kind, subject);
create index reconciliation_findings_last on reconciliation_findings (last_found_at);

-- When the reconciliation last went through everything, and what it found then: one process at a time does.
create table reconciliation_clock (
  is_only boolean primary key default true check (is_only),
  last_run_at timestamptz,
  -- How often each kind was found in that run.
  last_counts jsonb not null default '{}'
);

insert into reconciliation_clock default values;
