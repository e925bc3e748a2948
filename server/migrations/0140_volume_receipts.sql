-- What hosts say of a volume. Its owner's wish to delete it is one fact, the host's word that the data is gone another:
-- until then the space counts as rented.
alter table volumes
  add column deleting_at timestamptz,
  add column used_bytes bigint not null default 0 check (used_bytes >= 0),
  -- Why it cannot be used, or deleted, at the moment; empty when all is well.
  add column problem text not null default '';

update volumes set deleting_at = deleted_at where deleted_at is not null;

alter table volumes
  add constraint volumes_deleted_on_demand check (deleted_at is null or deleting_at is not null);
