-- Grows when the container is to be made anew from its present settings; a host removes what an older one left behind.
alter table instances add column revision integer not null default 0 check (revision >= 0);

-- What a host is asked to do once: to fetch logs, to run a command, to copy, to take a snapshot. A row is open until the
-- host answers it or its time is over; it is kept for as long as somebody may want to see what came of it.
create table agent_tasks (
  -- Also known to the host, which may outlive this database: never the same again.
  id text primary key check (length(id) between 1 and 64),
  -- The order in which they were asked.
  number bigint generated always as identity,
  machine_id integer not null references machines (id),
  -- The instance that it is about and whose owner sees how it goes. A copy between volumes is about none.
  instance_id integer references instances (id),
  user_id integer not null references users (id),
  -- Protocol's TaskAction, without the credentials of a registry.
  action jsonb not null,
  -- The credentials, encrypted, until the host has answered.
  sealed_auth text,
  -- What the address of the result ends in, hashed; null where the result is not for download.
  result_sha256 bytea unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The host is told to leave off; its answer is still awaited.
  cancelled_at timestamptz,
  completed_at timestamptz,
  progress text not null default '',
  is_success boolean,
  -- The output, or one sentence on why there is none.
  result text check (length(result) <= 1048576),
  check ((completed_at is null) = (is_success is null)),
  check ((completed_at is null) = (result is null)),
  check (completed_at is null or sealed_auth is null)
);

create index agent_tasks_open on agent_tasks (machine_id) where completed_at is null;
create index agent_tasks_instance_id on agent_tasks (instance_id) where instance_id is not null;
create index agent_tasks_user_id on agent_tasks (user_id, number);
create index agent_tasks_expires_at on agent_tasks (expires_at);
