-- The lowest bids that run on a machine, stored whenever they change: in nano-dollars an hour for this many devices
-- together; null means that no new bid would have run.
create table bid_floors (
  machine_id integer not null references machines (id),
  device_count integer not null check (device_count > 0),
  at timestamptz not null,
  floor_nanos bigint,
  primary key (machine_id, device_count, at)
);
create index bid_floors_by_time on bid_floors (at);

-- The lowest of them over all machines of a model.
create table model_bid_floors (
  gpu_name text not null,
  device_count integer not null check (device_count > 0),
  at timestamptz not null,
  floor_nanos bigint,
  primary key (gpu_name, device_count, at)
);
create index model_bid_floors_by_time on model_bid_floors (at);

-- Times in which a server looked at the market. Outside of them nobody knows what a bid would have done.
create table bid_floor_watches (
  started_at timestamptz primary key,
  ended_at timestamptz not null,
  check (ended_at >= started_at)
);
