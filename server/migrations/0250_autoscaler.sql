-- Worker groups, what their workers report, how much traffic came, and what the autoscaler decided and why.

-- A recipe for workers of an endpoint group. Its parameters beside counts are stored and shown; the endpoint's decide.
create table worker_groups (
  id integer generated always as identity primary key,
  endpoint_group_id integer not null references endpoint_groups (id) on delete cascade,
  user_id integer not null references users (id),
  -- Whose limits on spending hold for its workers, beside those of the account and of the endpoint.
  api_key_id integer not null,
  template_id integer,
  template_hash text not null,
  -- As it was sent, and what it says as a search of offers.
  search_params text not null,
  search_query jsonb not null,
  launch_args text not null,
  -- Of a private registry, `-u USER -p PASSWORD REGISTRY`; empty when there is none.
  sealed_login text not null default '',
  gpu_ram_gb double precision not null check (gpu_ram_gb >= 0),
  test_workers integer not null check (test_workers >= 0),
  cold_workers integer not null check (cold_workers >= 0),
  max_workers integer not null check (max_workers >= 0),
  min_load double precision not null check (min_load >= 0),
  min_cold_load double precision not null check (min_cold_load >= 0),
  target_util double precision not null check (target_util > 0 and target_util <= 1),
  cold_mult double precision not null check (cold_mult > 0),
  -- Raised with each change of the recipe; workers of an earlier one are updated while `is_updating`.
  generation integer not null default 1 check (generation >= 1),
  is_updating boolean not null default false,
  -- Workers that failed one after the other, without one that became ready between; nothing is rented before then.
  failure_count integer not null default 0 check (failure_count >= 0),
  resumes_at timestamptz,
  created_at timestamptz not null,
  deleted_at timestamptz
);

create index worker_groups_endpoint_group_id on worker_groups (endpoint_group_id);
create index worker_groups_user_id on worker_groups (user_id) where deleted_at is null;

-- What is known of a worker beyond its instance. Times it said itself are not believed; these are ours.
alter table endpoint_workers
  add column worker_group_id integer references worker_groups (id),
  add column machine_id integer,
  add column generation integer not null default 1,
  -- Of the token by which it signs its reports.
  add column token_sha256 bytea,
  -- Where it takes requests; empty until it said so.
  add column url text not null default '',
  add column version text not null default '',
  -- When it was ordered to start last, and when it said after that that it was ready.
  add column started_at timestamptz,
  add column ready_at timestamptz,
  -- The instance's generation in which it said so: one that was started anew has to say it again.
  add column ready_generation integer,
  add column reported_at timestamptz,
  -- Units a second: by its own benchmark, and as it was seen to serve while it was never idle.
  add column claimed_perf double precision,
  add column observed_perf double precision,
  -- From the order until ready: of a first start and of one from stopped.
  add column first_start_ms bigint,
  add column warm_start_ms bigint,
  -- Of the last report: units in progress, and how many requests.
  add column current_load double precision not null default 0,
  add column working_count integer not null default 0,
  add column disk_usage_gb double precision not null default 0,
  add column active_at timestamptz,
  -- Takes no new requests from then on, so that it can be stopped, destroyed or updated once it has none.
  add column draining_at timestamptz,
  add column draining_to text check (draining_to in ('stop', 'destroy', 'update')),
  add column failure text not null default '',
  add column failed_at timestamptz,
  add constraint endpoint_workers_draining check ((draining_at is null) = (draining_to is null));

create index endpoint_workers_worker_group_id on endpoint_workers (worker_group_id);

-- Traffic by the second; seconds without any have no row. Several servers add to the same row.
create table endpoint_load (
  endpoint_group_id integer not null references endpoint_groups (id) on delete cascade,
  second_at timestamptz not null,
  request_count integer not null,
  load double precision not null,
  -- Requests that got their worker in this second after waiting, and how long all and one of them waited.
  waited_count integer not null default 0,
  wait_ms bigint not null default 0,
  wait_ms_max integer not null default 0,
  primary key (endpoint_group_id, second_at)
);

-- What happened in an endpoint group and why, in words: decisions with their inputs, and what became of workers.
create table endpoint_events (
  id bigint generated always as identity primary key,
  endpoint_group_id integer not null references endpoint_groups (id) on delete cascade,
  worker_group_id integer,
  instance_id integer,
  at timestamptz not null,
  kind text not null check (kind in ('decision', 'worker', 'change')),
  -- Streams of the published logs: 0 what matters, 1 what was done, 2 what was seen, 3 everything.
  level smallint not null check (level between 0 and 3),
  sentence text not null check (sentence <> ''),
  detail jsonb not null default '{}'
);

create index endpoint_events_group_at on endpoint_events (endpoint_group_id, id);
create index endpoint_events_at on endpoint_events using brin (at);

-- Where a worker of the group failed: nothing is rented there for it before then.
create table worker_group_avoidances (
  worker_group_id integer not null references worker_groups (id) on delete cascade,
  machine_id integer not null,
  until_at timestamptz not null,
  primary key (worker_group_id, machine_id)
);

-- Kept when the group is gone: what its workers cost stays.
alter table endpoint_worker_names add column worker_group_id integer;

-- Which numbers of requests were given to servers, so that none is given twice.
alter table endpoint_groups
  add column next_request_idx bigint not null default 1,
  -- When the autoscaler looked at it last, by whichever server.
  add column decided_at timestamptz;

-- Signs addresses of workers: clients and workers check that a request was sent to the worker it reached.
create table route_signing_keys (
  id boolean primary key default true check (id),
  sealed_private_key text not null,
  public_key_pem text not null,
  created_at timestamptz not null
);
