-- What a server measured of a machine's line, direction by direction; nothing where the agent did not answer.
create table line_probes (
  machine_id integer not null references machines (id),
  at timestamptz not null,
  -- The name of the computer that measured: another one has another line.
  measured_from text not null,
  up_mbps double precision check (up_mbps >= 0),
  down_mbps double precision check (down_mbps >= 0),
  primary key (machine_id, at),
  constraint line_probes_both check ((up_mbps is null) = (down_mbps is null))
);
create index line_probes_measured on line_probes (measured_from, at) where up_mbps is not null;
