-- The hosts' side: when a machine is looked after, what runs on its idle devices, what renters say of it.
alter table machines
  -- Since when its agent has been connected, or was when it last came.
  add column connected_at timestamptz,
  -- Its host took it away. It comes back when it joins again, with all that is known of it.
  add column deleted_at timestamptz,
  add constraint machines_deleted_unlisted check (deleted_at is null or not is_listed);

-- A time in which a host looks after a machine, and its renters must expect interruptions.
create table machine_maintenances (
  id integer generated always as identity primary key,
  machine_id integer not null references machines (id),
  start_at timestamptz not null,
  end_at timestamptz not null,
  category text not null
    check (category in ('power', 'internet', 'disk', 'gpu', 'software', 'other', 'not provided')),
  reason text not null,
  created_at timestamptz not null,
  cancelled_at timestamptz,
  check (end_at > start_at)
);

create index machine_maintenances_machine_id on machine_maintenances (machine_id, end_at) where cancelled_at is null;

-- What a host runs on idle devices of a machine. Its instances are made from it, one for each device.
create table default_jobs (
  machine_id integer primary key references machines (id),
  image text not null,
  args jsonb not null,
  -- Shown as they were said; a host pays itself nothing.
  price_device_nanos_per_hour bigint not null check (price_device_nanos_per_hour >= 0),
  price_inet_up_nanos_per_gb bigint not null check (price_inet_up_nanos_per_gb >= 0),
  price_inet_down_nanos_per_gb bigint not null check (price_inet_down_nanos_per_gb >= 0),
  created_at timestamptz not null
);

-- A renter's word on a machine. Who says the same again renews it.
create table machine_reports (
  id integer generated always as identity primary key,
  machine_id integer not null references machines (id),
  user_id integer not null references users (id),
  problem text not null check (length(problem) >= 1 and length(problem) <= 100),
  message text not null check (length(message) <= 2000),
  created_at timestamptz not null,
  unique (machine_id, user_id, problem)
);

-- Whoever rented on a machine once may report it; written only when a rental ends.
create index instances_over on instances (user_id, machine_id) where ended_at is not null;

-- What usage earned hosts, by day and machine, added up from transfers up to `counted_until_at`: a host's report must not
-- read every charge of a month. What came after that instant is read from the transfers themselves.
create table ledger_earned_days (
  account_id integer not null references ledger_accounts (id),
  -- Since 1970-01-01 (UTC).
  day integer not null check (day >= 0),
  -- 0 for what no machine earned.
  machine_id integer not null check (machine_id >= 0),
  code text not null,
  amount_nanos bigint not null check (amount_nanos > 0),
  primary key (account_id, day, machine_id, code)
);

create table ledger_earned_clock (
  is_only boolean primary key default true check (is_only),
  -- Null while nothing was ever earned.
  counted_until_at timestamptz
);
insert into ledger_earned_clock default values;
