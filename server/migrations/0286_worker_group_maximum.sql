-- What a worker of a group may cost an hour at most, its disk included. Null: the market had no price for what the group
-- asks yet, and nothing is rented until it has one.
alter table worker_groups
  add column max_nanos_per_hour bigint check (max_nanos_per_hour > 0),
  -- Its owner chose the maximum; otherwise it follows from the market's usual price.
  add column is_max_by_owner boolean not null default false,
  -- Since when workers are needed and every matching offer costs more than the maximum.
  add column waits_for_price_since_at timestamptz;
