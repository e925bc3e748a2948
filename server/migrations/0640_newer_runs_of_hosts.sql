-- After a restore to an earlier state a host may have a newer run of an instance than the database: up to this time it is believed.
alter table instances add column newer_runs_until_at timestamptz;
