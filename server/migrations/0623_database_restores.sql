-- Restores of an earlier state of this database. Ids of instances that were given out after that state are skipped: hosts may
-- still have containers and disks under them (docs/operate/backups.md).
create table database_restores (
  id integer generated always as identity primary key,
  restored_at timestamptz not null,
  -- The end of the backup; null where the operator restored an external database.
  backup_at timestamptz,
  instance_id_after integer not null,
  instance_id_until integer not null check (instance_id_until > instance_id_after)
);
