-- Bytes that containers sent through the servers' proxy, run by run: their hosts must count at least as many.
create table proxied_traffic (
  instance_id integer not null,
  generation integer not null,
  sent_bytes bigint not null check (sent_bytes > 0),
  -- The sum as it was at a moment, to be held against what the host counts well after it; no moment while all of it was.
  noted_bytes bigint not null check (noted_bytes > 0 and noted_bytes <= sent_bytes),
  noted_at timestamptz,
  primary key (instance_id, generation),
  foreign key (instance_id, generation) references instance_runs (instance_id, generation) on delete cascade
);
