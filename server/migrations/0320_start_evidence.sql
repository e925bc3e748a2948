-- From when on a run may cost its renter more than the host's word alone is good for.
alter table instance_runs
  -- A door of the container can be reached through its host, and has to be.
  add column needs_evidence boolean not null default false,
  -- When this server reached that door first.
  add column evidence_at timestamptz,
  -- When the host last said of the run that it does not run yet.
  add column not_running_at timestamptz,
  add constraint instance_runs_begin_after_word
    check (not_running_at is null or metered_from_at is null or metered_from_at >= not_running_at);

-- The runs whose door is still to be reached are few, and are looked for every second.
create index instance_runs_without_evidence on instance_runs (started_at)
  where needs_evidence and evidence_at is null and sealed_at is null;

alter table host_flags drop constraint host_flags_kind_check;
alter table host_flags add constraint host_flags_kind_check check (kind in (
  'senseless_facts', 'traffic_beyond_line', 'traffic_below_proxied', 'slow_line', 'impossible_start', 'unproven_start'
));
