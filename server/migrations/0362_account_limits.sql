-- How many instances and volumes one account may have, the same for all servers of this database. Written at every start, from
-- the settings.
create table account_rules (
  is_only boolean primary key default true check (is_only),
  instances_max integer not null default 1000 check (instances_max >= 0),
  volumes_max integer not null default 1000 check (volumes_max >= 0)
);

insert into account_rules default values;
