-- How much traffic may cost of one instance: a limit that its renter set, or a budget that grows with its running time.
alter table price_rules
  -- Of an instance without a limit of its own: what it may cost at once, and how much more in each hour of running, in
  -- thousandths of its hourly price.
  add column traffic_base_nanos bigint not null default 2000000000 check (traffic_base_nanos >= 0),
  add column traffic_share_permille integer not null default 4000 check (traffic_share_permille >= 0);

-- The limit of new instances; null for the budget.
alter table users add column traffic_limit_nanos bigint check (traffic_limit_nanos >= 0);

alter table instances
  add column traffic_limit_nanos bigint check (traffic_limit_nanos >= 0),
  -- What its traffic was charged so far.
  add column traffic_spent_nanos bigint not null default 0 check (traffic_spent_nanos >= 0),
  -- Without a limit: what was left of the budget when it had run for so long. Null until that is first looked at.
  add column traffic_left_nanos bigint check (traffic_left_nanos >= 0),
  add column traffic_left_at_ms bigint not null default 0 check (traffic_left_at_ms >= 0),
  -- Since when it may not run for that; null again when its renter raises the limit.
  add column traffic_reached_at timestamptz,
  add constraint instances_traffic_within_limit
    check (traffic_limit_nanos is null or traffic_spent_nanos <= traffic_limit_nanos);

update instances set traffic_spent_nanos = charged.nanos
from (
  select instance_id, sum(amount_nanos)::bigint as nanos from charge_lines
  where component in ('bwu', 'bwd') and instance_id is not null group by instance_id
) as charged
where charged.instance_id = instances.id and charged.nanos > 0;
