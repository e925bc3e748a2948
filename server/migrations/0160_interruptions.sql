-- What is displaced runs on under notice for a while (phase yielding), so that its renter can save its work.
alter table instances
  drop constraint instances_phase_check,
  add constraint instances_phase_check
    check (phase in ('scheduled', 'starting', 'running', 'yielding', 'stopping', 'stopped', 'ending', 'ended')),
  -- Since when it wants its devices for no less than its price: of two equal bids the earlier one runs. Null until it is
  -- started again or its bid is raised: since it was made.
  add column claimed_at timestamptz;

-- How an interruption goes, the same for all servers of this database. Written at every start, from the settings.
create table market_rules (
  is_only boolean primary key default true check (is_only),
  -- From the notice to the stop.
  notice_ms integer not null default 30000 check (notice_ms >= 0 and notice_ms <= 3600000),
  -- For so long a displaced instance waits before it resumes, and one that has resumed is spared by other bids.
  min_slice_ms integer not null default 60000 check (min_slice_ms >= 0 and min_slice_ms <= 86400000)
);

insert into market_rules default values;
