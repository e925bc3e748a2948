-- An agent proves itself with a credential; one credential may bring up several machines, each under its own host key.
create table agent_credentials (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  name text not null,
  token_sha256 bytea not null unique,
  -- Machines of the operator's own: they need no verification by others.
  is_trusted boolean not null default false,
  created_at timestamptz not null,
  revoked_at timestamptz
);

create table machines (
  id integer generated always as identity primary key,
  host_id integer not null references users (id),
  agent_credential_id integer not null references agent_credentials (id),
  host_key text not null,
  boot_id text not null,
  agent_version text not null,
  engine_kind text not null check (engine_kind in ('docker', 'simulated')),
  engine_version text not null,
  -- protocol MachineFacts, as the agent last told them.
  facts jsonb not null,
  resource_type text not null check (resource_type in ('gpu', 'cpu')),
  verification text not null default 'unverified' check (verification in ('verified', 'unverified', 'deverified')),
  is_listed boolean not null,
  price_device_nanos_per_hour bigint not null check (price_device_nanos_per_hour >= 0),
  price_min_bid_nanos_per_hour bigint not null check (price_min_bid_nanos_per_hour >= 0),
  price_disk_nanos_per_gb_month bigint not null check (price_disk_nanos_per_gb_month >= 0),
  price_inet_up_nanos_per_gb bigint not null check (price_inet_up_nanos_per_gb >= 0),
  price_inet_down_nanos_per_gb bigint not null check (price_inet_down_nanos_per_gb >= 0),
  min_chunk integer not null check (min_chunk >= 1),
  credit_discount_max_permille integer not null check (credit_discount_max_permille between 0 and 1000),
  offer_end_at timestamptz not null,
  -- Until then the agent may run what it was told to run, connected or not; after it the agent has stopped everything.
  lease_until_at timestamptz not null,
  last_seen_at timestamptz not null,
  is_connected boolean not null default false,
  -- Counts its connections, so that the end of an old one does not end a newer one.
  session_number integer not null default 0,
  created_at timestamptz not null,
  unique (agent_credential_id, host_key)
);

create index machines_host_id on machines (host_id);
create index machines_lease_until_at on machines (lease_until_at);

-- What is rented: a GPU, or a core of a machine without GPUs. The uuid is the identity of the physical thing.
create table devices (
  id integer generated always as identity primary key,
  machine_id integer not null references machines (id),
  kind text not null check (kind in ('gpu', 'cpu_core')),
  uuid text not null unique,
  position integer not null check (position >= 0),
  -- protocol GpuFacts; an empty object for a core.
  facts jsonb not null,
  is_present boolean not null default true,
  is_healthy boolean not null default true,
  health_reason text not null default ''
);

create index devices_machine_id on devices (machine_id);
