-- The bundle of the offer that an instance was rented from, as searches showed it; unknown for earlier instances.
alter table instances
  add column bundle_id bigint,
  add constraint instances_bundle_id_check check (bundle_id >= 0);
