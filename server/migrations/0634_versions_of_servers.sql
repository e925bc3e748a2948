-- What runs on this database: servers note their version, and the schema that they know. 0 is a server from before this one.
alter table servers
  add column schema_number integer not null default 0,
  add column version text not null default '';
