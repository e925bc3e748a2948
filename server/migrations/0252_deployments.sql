-- Deployments: code that its owner uploads and that the workers of an endpoint of its own run.

create table deployments (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  -- Whose limits on spending hold for its workers.
  api_key_id integer not null,
  name text not null,
  tag text not null,
  -- No references: its owner may delete either one, and then the next PUT makes another.
  endpoint_group_id integer,
  worker_group_id integer,
  search_params text not null,
  -- Without a sign of life from its client for so long it is torn down; null: never.
  ttl_s double precision check (ttl_s > 0),
  last_client_heartbeat_at timestamptz not null,
  -- What was asked for last, what workers run, and what a worker became ready with last.
  wanted_version_id integer,
  current_version_id integer,
  last_healthy_version_id integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (user_id, name, tag)
);

create index deployments_worker_group_id on deployments (worker_group_id);
create index deployments_ttl on deployments (last_client_heartbeat_at) where ttl_s is not null;

-- Code together with what it runs in. Only the newest are kept.
create table deployment_versions (
  id integer generated always as identity primary key,
  deployment_id integer not null references deployments (id) on delete cascade,
  -- SHA-256 of the code in hexadecimal digits, and its size.
  file_hash text not null check (file_hash ~ '^[0-9a-f]{64}$'),
  size_bytes integer not null check (size_bytes > 0),
  label text not null,
  image text not null,
  env text not null,
  storage_gb double precision not null,
  -- Of a private registry, as JSON; empty when there is none.
  sealed_login text not null,
  -- The generation of the worker group from which on workers run it; null before they could.
  worker_generation integer,
  created_at timestamptz not null
);

create index deployment_versions_deployment_id on deployment_versions (deployment_id);

-- Code as it was uploaded. Versions of one deployment with the same code have the same file.
create table deployment_files (
  id integer generated always as identity primary key,
  deployment_id integer not null references deployments (id) on delete cascade,
  file_hash text not null,
  size_bytes integer not null check (size_bytes > 0),
  created_at timestamptz not null,
  -- When all of it was there and found right; null during the upload, and for ever when that broke off.
  completed_at timestamptz
);

create unique index deployment_files_complete on deployment_files (deployment_id, file_hash) where completed_at is not null;
create index deployment_files_incomplete on deployment_files (created_at) where completed_at is null;

-- In pieces, so that neither side ever has to hold a whole file.
create table deployment_file_pieces (
  file_id integer not null references deployment_files (id) on delete cascade,
  position integer not null check (position >= 0),
  bytes bytea not null check (length(bytes) > 0),
  primary key (file_id, position)
);

-- Compressed already.
alter table deployment_file_pieces alter column bytes set storage external;
