-- Every charge, as anybody can recompute it; and the facts that it rests on.

-- Money also enters by card (`stripe` is below zero by what came that way), and leaves as what the house bears (`losses`).
-- A renter's credit may go below zero by what its stored data may still cost, once that has been stated as its floor.
alter table ledger_accounts drop constraint ledger_accounts_kind;
alter table ledger_accounts drop constraint ledger_accounts_issuance;
alter table ledger_accounts add constraint ledger_accounts_kind check (
  kind in ('credit', 'earnings', 'issuance', 'fees', 'payouts', 'stripe', 'losses')
  or kind ~ '^deposit:[1-9][0-9]{0,9}$'
);
alter table ledger_accounts add constraint ledger_accounts_sources check (
  kind in ('issuance', 'stripe', 'losses') or floor_nanos = 0 or (kind = 'credit' and floor_nanos < 0)
);

create or replace function ledger_make_accounts(account_users integer[], account_kinds text[]) returns void
language sql as $$
  insert into ledger_accounts (user_id, kind, floor_nanos)
  select nullif(wanted.user_id, 0), wanted.kind,
    case when wanted.kind in ('issuance', 'stripe', 'losses') then -3000000000000000000 else 0 end
  from unnest(account_users, account_kinds) as wanted (user_id, kind)
  where not exists (
    select from ledger_accounts a where coalesce(a.user_id, 0) = wanted.user_id and a.kind = wanted.kind
  )
  order by wanted.user_id, wanted.kind
  on conflict do nothing
$$;

alter table ledger_transfers drop constraint ledger_transfers_code;
alter table ledger_transfers add constraint ledger_transfers_code check (
  code in (
    'credit_granted', 'credit_transfer', 'usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down',
    'prepay', 'refund', 'payout', 'fee', 'payment', 'payment_returned', 'host_credit', 'payout_returned', 'write_off'
  )
);

-- One line for each stretch of one component of one instance or volume at one price. Lines of one component of one
-- instance, or of one volume, never overlap.
create table charge_lines (
  id bigint generated always as identity primary key,
  -- What paid it; null where there was nothing to pay. No foreign keys, as in ledger_transfers: the audit looks.
  transfer_id bigint,
  payer_id integer not null,
  host_id integer not null,
  machine_id integer,
  instance_id integer,
  volume_id integer,
  -- The run that counted it; null for storage.
  generation integer,
  component text not null check (component in ('gpu', 'disk', 'bwu', 'bwd')),
  -- What the instance was doing (running, loading, stopped), and what had brought it there; `stored` for a volume.
  state text not null check (state in ('running', 'loading', 'stopped', 'stored')),
  cause text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  -- Milliseconds for gpu and disk, bytes for bwu and bwd.
  quantity bigint not null check (quantity >= 0),
  -- Of the disk that was stored; null for the others.
  size_bytes bigint check (size_bytes > 0),
  -- Per hour for gpu, per GB and month for disk, per GB for bwu and bwd; before the discount.
  unit_price_nanos bigint not null check (unit_price_nanos >= 0),
  discount_ppm integer not null default 0 check (discount_ppm >= 0 and discount_ppm < 1000000),
  amount_nanos bigint not null check (amount_nanos >= 0),
  -- What was due besides and could not be had, since nothing was left to take it from.
  unpaid_nanos bigint not null default 0 check (unpaid_nanos >= 0),
  paid_from text not null check (paid_from in ('credit', 'deposit')),
  charged_at timestamptz not null,
  constraint charge_lines_interval check (from_at <= to_at),
  constraint charge_lines_contract check ((instance_id is null) <> (volume_id is null)),
  constraint charge_lines_size check ((size_bytes is not null) = (component = 'disk')),
  constraint charge_lines_run check ((generation is not null) = (component <> 'disk')),
  constraint charge_lines_transfer check ((transfer_id is not null) = (amount_nanos > 0)),
  constraint charge_lines_time check (
    component in ('bwu', 'bwd') or quantity <= (extract(epoch from to_at - from_at) * 1000)::bigint
  )
);

create index charge_lines_payer on charge_lines (payer_id, charged_at, id);
create index charge_lines_instance on charge_lines (instance_id, id) where instance_id is not null;
create index charge_lines_volume on charge_lines (volume_id, id) where volume_id is not null;

create trigger charge_lines_append_only before update or delete on charge_lines
  for each row execute function ledger_refuse_change();
create trigger charge_lines_no_truncate before truncate on charge_lines
  for each statement execute function ledger_refuse_change();

-- Terms that an instance had before its present ones, and up to where they held: in time for what is stored, and in the
-- counters of the run for what is counted. Nothing is guessed afterwards: what a run counts below the mark costs these.
create table past_terms (
  id bigint generated always as identity primary key,
  instance_id integer not null references instances (id),
  until_at timestamptz not null,
  generation integer not null,
  until_running_ms bigint not null check (until_running_ms >= 0),
  until_received_bytes bigint not null check (until_received_bytes >= 0),
  until_sent_bytes bigint not null check (until_sent_bytes >= 0),
  price_nanos_per_hour bigint not null check (price_nanos_per_hour >= 0),
  storage_nanos_per_gb_month bigint not null check (storage_nanos_per_gb_month >= 0),
  inet_up_nanos_per_gb bigint not null check (inet_up_nanos_per_gb >= 0),
  inet_down_nanos_per_gb bigint not null check (inet_down_nanos_per_gb >= 0),
  discount_ppm integer not null check (discount_ppm >= 0 and discount_ppm < 1000000)
);

create index past_terms_instance on past_terms (instance_id, id);

-- When a machine was in touch. The last span of a machine that is connected is open: it reaches to machines.last_seen_at.
create table machine_spans (
  machine_id integer not null references machines (id),
  from_at timestamptz not null,
  until_at timestamptz,
  primary key (machine_id, from_at),
  constraint machine_spans_interval check (from_at <= until_at)
);

create unique index machine_spans_open on machine_spans (machine_id) where until_at is null;

-- What has been charged of a run, beside charged_running_ms.
alter table instance_runs add column charged_received_bytes bigint not null default 0;
alter table instance_runs add column charged_sent_bytes bigint not null default 0;
-- When its process began to run, as proven by its first report that says so. Its counters are counted from there.
alter table instance_runs add column metered_from_at timestamptz;
-- Its host was lost: what is told of it afterwards, nobody saw.
alter table instance_runs add column sealed_at timestamptz;
alter table instance_runs add constraint instance_runs_charged_bytes check (
  charged_received_bytes >= 0 and charged_received_bytes <= received_bytes
  and charged_sent_bytes >= 0 and charged_sent_bytes <= sent_bytes
);

-- The first proven running of an instance, from which on its disk is charged; for a volume, when it was there.
alter table instances add column metered_from_at timestamptz;
alter table instances add column storage_charged_until_at timestamptz;
-- When it is due to be settled; null when nothing can become due any more, or not yet.
alter table instances add column settle_at timestamptz;
-- Whose limits its spending counts against, besides its account's and its own: `key:7`, `endpoint:3`.
alter table instances add column cap_scopes text[] not null default '{}';
create index instances_settle_at on instances (settle_at) where settle_at is not null;

alter table volumes add column metered_from_at timestamptz;
alter table volumes add column storage_charged_until_at timestamptz;
alter table volumes add column settle_at timestamptz;
create index volumes_settle_at on volumes (settle_at) where settle_at is not null;

-- What ran already is charged on from where its charges ended; what was counted stands in the time before its last count.
update instance_runs
set metered_from_at = greatest(started_at, last_counted_at - running_ms * interval '1 millisecond')
where first_running_at is not null or running_ms > 0;
-- Traffic and storage were free of charge until now.
update instance_runs set charged_received_bytes = received_bytes, charged_sent_bytes = sent_bytes;
update instances set metered_from_at = now(), storage_charged_until_at = now(),
  settle_at = case when not is_background then now() end
where ended_at is null and exists (
  select from instance_runs r where r.instance_id = instances.id and r.metered_from_at is not null
);
-- What was over and not charged to the end is, once.
update instances set settle_at = now()
where ended_at is not null and not is_background and exists (
  select from instance_runs r where r.instance_id = instances.id and r.charged_running_ms < r.running_ms
);
-- Of what was counted before a price rose, the lower one had been kept.
insert into past_terms (
  instance_id, until_at, generation, until_running_ms, until_received_bytes, until_sent_bytes, price_nanos_per_hour,
  storage_nanos_per_gb_month, inet_up_nanos_per_gb, inet_down_nanos_per_gb, discount_ppm
)
select i.id, now(), r.generation, r.running_ms, r.received_bytes, r.sent_bytes,
  least(r.lowest_price_nanos_per_hour, i.price_nanos_per_hour), i.storage_nanos_per_gb_month, i.inet_up_nanos_per_gb,
  i.inet_down_nanos_per_gb, greatest(r.highest_discount_ppm, i.discount_ppm)
from instance_runs r
join instances i on i.id = r.instance_id
where r.charged_running_ms < r.running_ms and (
  r.lowest_price_nanos_per_hour < i.price_nanos_per_hour or r.highest_discount_ppm > i.discount_ppm
)
order by i.id, r.generation;
-- What is to be filled from another volume is charged from when it is full.
update volumes set metered_from_at = now(), storage_charged_until_at = now(),
  settle_at = case when price_nanos_per_gb_month > 0 and deleting_at is null then now() end
where deleted_at is null and not exists (select from volume_clones c where c.volume_id = volumes.id);
-- Machines that are back within their lease were there all the time, as after any stop of the server.
insert into machine_spans (machine_id, from_at, until_at)
select id, least(connected_at, last_seen_at), case when not is_connected then last_seen_at end
from machines;
