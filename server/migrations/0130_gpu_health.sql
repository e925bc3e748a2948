-- What is wrong with the devices that an instance holds, told to its owner while it lasts; empty when nothing is.
alter table instances add column device_problem text not null default '';

-- A momentary reading of what a run uses of its machine, as protocol's usage with the load of its GPUs; null while unknown.
alter table instance_runs add column usage jsonb;

-- Every time that a device became sick or well, with the reason its host gave.
create table device_events (
  id bigint generated always as identity primary key,
  device_id integer not null references devices (id),
  at timestamptz not null,
  is_healthy boolean not null,
  reason text not null
);

create index device_events_device_id on device_events (device_id, id);
