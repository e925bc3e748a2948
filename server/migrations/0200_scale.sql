-- Thousands of machines are heard of all the time. What is written then stands in no index, and pages keep room for it:
-- a row's new version then stays on its page, no index learns of it, and the old one is cleared away in passing.
drop index machines_lease_until_at;
create index machines_away on machines (id) where not is_connected;
alter table machines set (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.05);
-- Counters of what runs are raised at each report, and an index is about them.
alter table instance_runs set (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
-- These grow from nothing to thousands of rows within seconds: a plan that was made for none must not stay for long.
alter table instances set (autovacuum_analyze_scale_factor = 0.05);
alter table leases set (autovacuum_analyze_scale_factor = 0.05);
alter table offers set (autovacuum_vacuum_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05);
