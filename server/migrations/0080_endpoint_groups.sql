create table endpoint_groups (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  name text not null check (length(name) between 1 and 255),
  -- Kept readable, unlike account keys: the contract shows it in every list, and all it opens is this endpoint's route.
  api_key text not null unique,
  state text not null check (state in ('active', 'suspended', 'stopped')),
  min_load double precision not null check (min_load >= 0),
  min_cold_load double precision not null check (min_cold_load >= 0),
  target_util double precision not null check (target_util > 0 and target_util <= 1),
  cold_mult double precision not null check (cold_mult > 0),
  cold_workers integer not null check (cold_workers >= 0),
  max_workers integer not null check (max_workers >= 1),
  max_queue_time_s double precision check (max_queue_time_s >= 0),
  target_queue_time_s double precision check (target_queue_time_s >= 0),
  -- Negative: never scale to zero. Zero: at any time. Null: not set.
  inactivity_timeout_s double precision,
  created_at timestamptz not null,
  -- Gone for its owner from then on. The row itself goes with its last worker.
  deleted_at timestamptz,
  check (cold_workers <= max_workers)
);

create index endpoint_groups_user_id on endpoint_groups (user_id) where deleted_at is null;
create index endpoint_groups_deleted_at on endpoint_groups (deleted_at) where deleted_at is not null;

-- The instances that a group owns. A row goes when the instances domain has taken the order to destroy its instance.
create table endpoint_workers (
  instance_id integer primary key references instances (id),
  endpoint_group_id integer not null references endpoint_groups (id),
  state text not null check (state in ('active', 'removing')),
  removal_attempt_count integer not null default 0 check (removal_attempt_count >= 0),
  removal_failure text not null default '',
  next_removal_at timestamptz,
  created_at timestamptz not null,
  check ((state = 'removing') = (next_removal_at is not null))
);

create index endpoint_workers_endpoint_group_id on endpoint_workers (endpoint_group_id);
create index endpoint_workers_next_removal_at on endpoint_workers (next_removal_at) where state = 'removing';
