-- The most that hosts may ask for traffic and storage, the same for all servers of this database. Written at every start,
-- from the settings.
create table price_rules (
  is_only boolean primary key default true check (is_only),
  traffic_nanos_per_gb_max bigint not null default 150000000 check (traffic_nanos_per_gb_max >= 0),
  storage_nanos_per_gb_month_max bigint not null default 1000000000 check (storage_nanos_per_gb_month_max >= 0)
);

insert into price_rules default values;
