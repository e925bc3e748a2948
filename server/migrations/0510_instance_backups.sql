-- Copies of the files of instances and volumes that the operator keeps. A row stays when its file is deleted.
create table instance_backups (
  id integer generated always as identity primary key,
  kind text not null check (kind in ('instance', 'volume')),
  -- The instance or the volume, which the backup outlives.
  contract_id integer not null check (contract_id > 0),
  user_id integer not null references users (id),
  machine_id integer not null references machines (id),
  -- Why it was made: the operator asked, or the rental was about to end.
  cause text not null check (cause in ('asked', 'contract_end')),
  status text not null check (status in ('pending', 'success', 'error')),
  -- Why there is no backup; empty otherwise.
  problem text not null default '' check (length(problem) <= 1024),
  -- The task of the host; null until it was asked.
  task_id text,
  -- Counts connections on which the host began to send: only the newest may store its file.
  attempt integer not null default 0 check (attempt >= 0),
  size_bytes bigint check (size_bytes >= 0),
  created_at timestamptz not null,
  made_at timestamptz,
  file_deleted_at timestamptz,
  constraint instance_backups_of_success check (
    (status = 'success') = (made_at is not null)
    and (made_at is null) = (size_bytes is null)
    and (file_deleted_at is null or made_at is not null)
  ),
  constraint instance_backups_of_error check ((status = 'error') = (problem <> ''))
);
create unique index instance_backups_one_pending on instance_backups (kind, contract_id) where status = 'pending';
create unique index instance_backups_one_at_the_end on instance_backups (kind, contract_id)
  where cause = 'contract_end' and status <> 'error';
create unique index instance_backups_task_id on instance_backups (task_id);
create index instance_backups_of_user on instance_backups (user_id, id);
create index instance_backups_kept on instance_backups (made_at) where status = 'success' and file_deleted_at is null;

-- The backup that is the other end of a transfer: that which the host sends, or that which it restores.
alter table agent_tasks add column backup_id integer references instance_backups (id);
