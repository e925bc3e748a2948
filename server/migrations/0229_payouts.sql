-- What hosts have earned and is sent to them, each Friday (UTC).

-- Where a host wants its money. The details lie sealed; `shown` is what anybody but who pays gets to see of them.
create table payout_methods (
  user_id integer primary key references users (id),
  method text not null check (method in ('stripe', 'wise', 'paypal', 'bank')),
  details_sealed text not null,
  shown text not null check (length(shown) between 1 and 200),
  updated_at timestamptz not null
);

-- Of a host's earnings, the part whose fee was taken: what is above it was earned since the last invoice.
create table payout_bases (
  user_id integer primary key references users (id),
  settled_nanos bigint not null
);

-- How far the hosts were gone through for one Friday.
create table payout_runs (
  friday_at timestamptz primary key check (extract(isodow from friday_at at time zone 'UTC') = 5),
  after_user_id integer not null default 0,
  completed_at timestamptz
);

create table payouts (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  -- The Friday whose invoice it is, and the one on which it is to be paid.
  invoiced_at timestamptz not null,
  due_at timestamptz not null,
  -- What was earned since the invoice before, and the fee of it. The rest of that, with what had rolled over, is paid.
  earned_nanos bigint not null,
  fee_ppm integer not null check (fee_ppm between 0 and 500000),
  fee_nanos bigint not null check (fee_nanos >= 0),
  amount_nanos bigint not null check (amount_nanos > 0 and amount_nanos % 10000000 = 0),
  state text not null default 'pending' check (state in ('pending', 'sending', 'paid', 'failed')),
  -- How it was or is being sent, and what that is called there.
  method text check (method in ('stripe', 'wise', 'paypal', 'bank')),
  destination text,
  reference text check (length(reference) between 1 and 200),
  failure text check (length(failure) between 1 and 500),
  attempt_count integer not null default 0 check (attempt_count >= 0),
  lease_until timestamptz,
  created_at timestamptz not null,
  settled_at timestamptz,
  constraint payouts_fee check (fee_nanos::numeric * 1000000 <= greatest(earned_nanos, 0)::numeric * fee_ppm),
  constraint payouts_due check (due_at > invoiced_at),
  constraint payouts_settled check ((settled_at is not null) = (state in ('paid', 'failed'))),
  constraint payouts_reference check (state <> 'paid' or reference is not null),
  constraint payouts_failure check ((failure is not null) = (state = 'failed'))
);

create unique index payouts_once on payouts (user_id, invoiced_at);
create index payouts_due on payouts (due_at, id) where state in ('pending', 'sending');
create index payouts_user on payouts (user_id, id);
