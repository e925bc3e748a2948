-- Terms of running rentals: deposits of reserved ones, and prices that rise when the agreed time is over.

-- What a renter has prepaid lies in an account of its own for each instance, which is named in the kind: so the database
-- itself refuses to spend the deposit of one rental on another, and posting needs no third key.
alter table ledger_accounts drop constraint ledger_accounts_kind;
alter table ledger_accounts drop constraint ledger_accounts_owner_kind;
alter table ledger_accounts add constraint ledger_accounts_kind check (
  kind in ('credit', 'earnings', 'issuance', 'fees', 'payouts') or kind ~ '^deposit:[1-9][0-9]{0,9}$'
);
alter table ledger_accounts add constraint ledger_accounts_owner_kind check (
  (user_id is not null) = (kind in ('credit', 'earnings') or kind like 'deposit:%')
);

alter table ledger_transfers drop constraint ledger_transfers_code;
alter table ledger_transfers add constraint ledger_transfers_code check (
  code in (
    'credit_granted', 'credit_transfer', 'usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down',
    'prepay', 'refund', 'payout', 'fee'
  )
);

-- What a deposit is besides its balance, which is the ledger's. The discount in force is in instances.discount_ppm.
create table deposits (
  instance_id integer primary key references instances (id),
  user_id integer not null references users (id),
  -- As agreed at the last payment: it also holds for what is counted late, after the rental is over.
  discount_ppm integer not null check (discount_ppm > 0 and discount_ppm < 1000000),
  prepay_count integer not null check (prepay_count >= 1),
  -- What the discount has saved since the deposit was last empty: an early end gives it back.
  at_stake_nanos bigint not null default 0 check (at_stake_nanos >= 0),
  -- What it has saved over the whole rental.
  saved_nanos bigint not null default 0 check (saved_nanos >= at_stake_nanos),
  opened_at timestamptz not null,
  -- When what was left went back, after the rental was over.
  closed_at timestamptz
);

create index deposits_open on deposits (instance_id) where closed_at is null;

-- Set while the discount may have changed since the last charge, as lowest_price_nanos_per_hour is for the price.
alter table instance_runs add column highest_discount_ppm integer
  check (highest_discount_ppm >= 0 and highest_discount_ppm < 1000000);

-- What a host asks for staying longer. At most one for each rental; a newer one takes its place under a new id.
create table pending_price_increases (
  id integer generated always as identity primary key,
  instance_id integer not null unique references instances (id),
  host_id integer not null references users (id),
  -- For the whole rental, as in instances.
  price_nanos_per_hour bigint not null check (price_nanos_per_hour >= 0),
  storage_nanos_per_gb_month bigint not null check (storage_nanos_per_gb_month >= 0),
  inet_up_nanos_per_gb bigint not null check (inet_up_nanos_per_gb >= 0),
  inet_down_nanos_per_gb bigint not null check (inet_down_nanos_per_gb >= 0),
  -- The end of the rental if it is accepted.
  end_at timestamptz not null,
  created_at timestamptz not null
);

-- Prices that a renter has accepted, from when on. A rental may have several ahead of it.
create table price_changes (
  instance_id integer not null references instances (id),
  starts_at timestamptz not null,
  price_nanos_per_hour bigint not null check (price_nanos_per_hour >= 0),
  storage_nanos_per_gb_month bigint not null check (storage_nanos_per_gb_month >= 0),
  inet_up_nanos_per_gb bigint not null check (inet_up_nanos_per_gb >= 0),
  inet_down_nanos_per_gb bigint not null check (inet_down_nanos_per_gb >= 0),
  accepted_at timestamptz not null,
  applied_at timestamptz,
  primary key (instance_id, starts_at)
);

create index price_changes_due on price_changes (starts_at) where applied_at is null;

-- Rentals are looked for by their end: to stop them, and to delete what is left two days later.
create index instances_end_at on instances (end_at) where ended_at is null;
