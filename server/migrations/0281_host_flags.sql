-- What a host did that contradicts what the server knows: open until an administrator clears it.
create table host_flags (
  id integer generated always as identity primary key,
  host_id integer not null references users (id),
  -- Null where it is about no machine that is known.
  machine_id integer references machines (id),
  kind text not null check (kind in (
    'senseless_facts', 'traffic_beyond_line', 'traffic_below_proxied', 'slow_line', 'impossible_start'
  )),
  -- One sentence for people: what contradicts what.
  detail text not null,
  -- The numbers that it was concluded from, as of the last time.
  facts jsonb not null,
  since_at timestamptz not null,
  -- When the same was seen last, and how often.
  last_at timestamptz not null,
  seen_count integer not null default 1 check (seen_count > 0),
  cleared_at timestamptz,
  cleared_by_id integer references users (id),
  clear_reason text,
  constraint host_flags_cleared check (
    (cleared_at is null) = (cleared_by_id is null) and (cleared_at is null) = (clear_reason is null)
  )
);

-- The same again makes no second one while the first is open.
create unique index host_flags_one_open on host_flags (host_id, coalesce(machine_id, 0), kind) where cleared_at is null;
create index host_flags_of_host on host_flags (host_id, id);
