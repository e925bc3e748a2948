-- Data that goes from one host to another: a task at each of them, both of the same transfer.
alter table agent_tasks
  add column transfer_id text check (length(transfer_id) between 1 and 64),
  add column copied_bytes bigint not null default 0 check (copied_bytes >= 0);

create index agent_tasks_transfer_id on agent_tasks (transfer_id) where transfer_id is not null;

-- A volume that is being filled from another one, or that could not be. Gone when it is complete: then it is a volume like
-- any other.
create table volume_clones (
  volume_id integer primary key references volumes (id),
  source_id integer not null references volumes (id),
  -- The task of the host that writes. It is forgotten some time after it is over.
  task_id text not null unique,
  -- How much there is to copy, as far as the source's host had said.
  expected_bytes bigint not null check (expected_bytes >= 0),
  created_at timestamptz not null,
  -- What its host has not done by then it is not going to do.
  expires_at timestamptz not null,
  failed_at timestamptz,
  problem text not null default '',
  check (problem = '' or failed_at is not null)
);

create index volume_clones_source_id on volume_clones (source_id);
create index volumes_end_at on volumes (end_at) where deleting_at is null;
