-- The workers of an endpoint by state over time, with what they serve and cost, stored when it changes. A row holds until
-- the next one.
create table endpoint_fleets (
  endpoint_group_id integer not null,
  at timestamptz not null,
  ready_count integer not null,
  starting_count integer not null,
  stopping_count integer not null,
  stopped_count integer not null,
  failed_count integer not null,
  -- Units a second that ready workers serve, that starting ones will, and that stopped ones could.
  ready_perf double precision not null,
  starting_perf double precision not null,
  stopped_perf double precision not null,
  queued_count integer not null,
  nanos_per_hour bigint not null,
  primary key (endpoint_group_id, at)
);
create index endpoint_fleets_at on endpoint_fleets using brin (at);
