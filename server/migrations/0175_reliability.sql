-- The facts that a machine's reliability is computed from (docs/reliability.md). They are public, so that anybody can
-- compute it again.
--
-- Presence and starts have tables of their own, since each has its own writer: the loop that counts presence writes all
-- machines in one transaction, and no report of a host has to wait for it.

-- Up to when the presence of all machines has been counted; one row. Whoever counts holds it, and moves it on.
create table presence_clock (
  is_only boolean primary key default true check (is_only),
  counted_until_at timestamptz not null
);

-- How long a machine was there on a day (UTC), of the time in which it was to be there: listed, or rented.
create table machine_days (
  machine_id integer not null references machines (id),
  -- Since 1970-01-01.
  day integer not null check (day >= 0),
  online_ms bigint not null check (online_ms >= 0),
  -- Without the time of a maintenance that was announced in time.
  offline_ms bigint not null check (offline_ms >= 0),
  -- Of that, in proportion to the share of its devices that renters held.
  offline_rented_ms bigint not null check (offline_rented_ms >= 0 and offline_rented_ms <= offline_ms),
  maintenance_ms bigint not null check (maintenance_ms >= 0),
  primary key (machine_id, day)
);

-- How often a run began as it should, by day.
create table machine_start_days (
  machine_id integer not null references machines (id),
  day integer not null check (day >= 0),
  succeeded_count integer not null check (succeeded_count >= 0),
  primary key (machine_id, day)
);

-- Runs that did not begin, by the machine's own fault. One that begins all the same is taken out again.
create table failed_starts (
  instance_id integer not null references instances (id),
  generation integer not null check (generation >= 1),
  machine_id integer not null references machines (id),
  renter_id integer not null references users (id),
  at timestamptz not null,
  reason text not null check (length(reason) <= 1000),
  -- False when another one of the same renter was counted within the hour before.
  is_counted boolean not null,
  primary key (instance_id, generation)
);
create index failed_starts_by_machine on failed_starts (machine_id, at);
