-- What was charged, by payer, day, contract and component, added up from charge_lines up to `counted_until_at`: a report
-- must not read every line of a year. What came after that instant is read from the lines themselves.
create table charge_days (
  payer_id integer not null,
  -- Since 1970-01-01 (UTC), of when it was charged: what a day cost is then what the ledger moved on it, for ever.
  day integer not null check (day >= 0),
  -- 0 for what a volume cost, and the other way round.
  instance_id integer not null,
  volume_id integer not null,
  component text not null check (component in ('gpu', 'disk', 'bwu', 'bwd')),
  paid_from text not null check (paid_from in ('credit', 'deposit')),
  line_count integer not null check (line_count > 0),
  -- It names the sum, since it is in no other.
  first_line_id bigint not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  last_charged_at timestamptz not null,
  -- Milliseconds for gpu, bytes times milliseconds for disk, bytes for bwu and bwd.
  quantity numeric not null,
  amount_nanos bigint not null check (amount_nanos >= 0),
  unpaid_nanos bigint not null check (unpaid_nanos >= 0),
  -- Of the unit prices of its lines, and of their discounts.
  lowest_price_nanos bigint not null,
  highest_price_nanos bigint not null,
  highest_discount_ppm integer not null,
  primary key (payer_id, day, instance_id, volume_id, component, paid_from),
  constraint charge_days_contract check ((instance_id > 0) <> (volume_id > 0))
);

create table charge_days_clock (
  is_only boolean primary key default true check (is_only),
  -- Null while nothing was ever charged.
  counted_until_at timestamptz
);
insert into charge_days_clock default values;

-- For adding up what was charged in a stretch of time, by whomever. Lines come in the order of time, near enough.
create index charge_lines_charged_at on charge_lines using brin (charged_at) with (pages_per_range = 16);

-- Which endpoint an instance worked for. Rows of endpoint_workers go with their instances; what they cost stays.
create table endpoint_worker_names (
  instance_id integer primary key references instances (id),
  endpoint_group_id integer not null
);
insert into endpoint_worker_names (instance_id, endpoint_group_id)
select instance_id, endpoint_group_id from endpoint_workers;
