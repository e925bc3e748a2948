-- How far the pull of an instance's image has come, as its host reports it: done_bytes, total_bytes, bytes_per_second.
-- Null while no image is pulled, and where its size is not known.
alter table instances add column observed_pull jsonb;
