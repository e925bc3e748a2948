-- Measurements of machines and instances. The newest are one row for each machine and ten seconds; when a quarter of an
-- hour is over, they become blocks, one row for each machine or instance and each resolution, and are deleted. No row is
-- ever updated. Neither table has foreign keys: measurements must not lock the rows of machines and rentals.
create table measurement_samples (
  machine_id integer not null check (machine_id > 0),
  taken_at timestamptz not null,
  -- The format is in rules/sample.ts.
  content bytea not null,
  primary key (machine_id, taken_at)
) with (autovacuum_vacuum_scale_factor = 0.05);

create table measurement_blocks (
  subject_kind smallint not null check (subject_kind in (0, 1)),
  subject_id integer not null check (subject_id > 0),
  step_s smallint not null check (step_s in (10, 60, 900)),
  begins_at timestamptz not null,
  -- The format is in rules/block.ts.
  content bytea not null,
  primary key (subject_kind, subject_id, step_s, begins_at)
) with (autovacuum_vacuum_scale_factor = 0.02);

-- Old blocks of one resolution are deleted by time.
create index measurement_blocks_age on measurement_blocks (step_s, begins_at);
