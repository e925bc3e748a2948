-- The last measurement of each kind: of a machine, or of the worker in an instance.
create table benchmarks (
  id integer generated always as identity primary key,
  machine_id integer not null references machines (id),
  -- The worker's instance; null for a measurement of the machine itself.
  instance_id integer references instances (id),
  -- `perf` in units a second, `upload` and `download` in Mbit/s, `cpu` in rounds of a puzzle a second, `disk` in MB/s.
  type text not null check (type in ('perf', 'upload', 'download', 'cpu', 'disk')),
  -- Whose number it is: the server measured, a renter's worker did, or the host's agent says so.
  measured_by text not null check (measured_by in ('server', 'worker', 'agent')),
  value double precision not null check (value > 0 and value < 'infinity'),
  measured_at timestamptz not null,
  gpu_name text,
  num_gpus integer not null check (num_gpus >= 0),
  -- The renter of the worker, its image and its template, and what its GPUs cost then.
  user_id integer references users (id),
  image text,
  template_id integer references templates (id),
  template_hash text,
  -- True when everybody could see the template then.
  is_template_public boolean not null default false,
  price_nanos_per_hour bigint check (price_nanos_per_hour >= 0),
  constraint benchmarks_of_worker check (
    (measured_by = 'worker') = (instance_id is not null)
    and (instance_id is null) = (user_id is null)
    and (instance_id is null) = (price_nanos_per_hour is null)
    and (type = 'perf') = (measured_by = 'worker')
  )
);
create unique index benchmarks_one_of_instance on benchmarks (instance_id, type) where instance_id is not null;
create unique index benchmarks_one_of_machine on benchmarks (machine_id, type, measured_by) where instance_id is null;
create index benchmarks_of_machine on benchmarks (machine_id);
