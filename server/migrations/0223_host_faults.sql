-- Runs that ended because their host failed: their renters get the last ten minutes of them back (docs/billing.md).
create table host_faults (
  instance_id integer not null references instances (id),
  -- Once for each run, whatever happened to it.
  generation integer not null,
  reason text not null check (reason in ('host_lost', 'host_stopped', 'device_fault')),
  at timestamptz not null,
  -- Null until the run is settled and what it cost in the end is known.
  settled_at timestamptz,
  credited_nanos bigint check (credited_nanos >= 0),
  primary key (instance_id, generation),
  constraint host_faults_settled check ((settled_at is null) = (credited_nanos is null))
);

create index host_faults_open on host_faults (instance_id) where settled_at is null;

-- Runs are found by their instances now. Without this index a report that raises a counter touches no index at all.
drop index instance_runs_uncharged;

-- What is over and not settled for the last time is few, and looked for whenever its renter looks at the balance.
create index instances_unsettled on instances (user_id) where ended_at is not null and settle_at is not null;
