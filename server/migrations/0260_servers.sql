-- Every server process of this database, and which of them has the connection of which machine.
create table servers (
  id integer generated always as identity primary key,
  -- The name of the data directory, made at its first start; a later start on it takes the place of the earlier one.
  data_dir_key text not null unique,
  -- Host and path of the data directory, for people.
  place text not null,
  -- Where other servers reach this one; null while it does not listen yet.
  address text,
  -- Settings that every server of this database must have alike.
  settings jsonb not null,
  started_at timestamptz not null,
  beat_at timestamptz not null,
  -- Rises every few seconds while the process lives. Other servers watch whether it rises, by clocks of their own.
  beat_count bigint not null default 0,
  stopped_at timestamptz
);

-- What all servers of this database share; one row.
create table installation (
  is_only boolean primary key default true check (is_only),
  -- A keyed hash that shows whether a secret is the shared one; null before the first start.
  secret_check bytea,
  -- The data directory that holds the administrator's key, by its name and for people.
  admin_key_data_dir text,
  admin_key_place text
);
insert into installation default values;

alter table machines
  -- The server that has the agent's connection; null while there is none.
  add column server_id integer references servers on delete set null,
  -- The address that the agent's connection came from last.
  add column agent_address text,
  -- The server that had the connection ended: until then the absence is not the host's.
  add column excused_until_at timestamptz;

-- Which data directory a server's own agent belongs to; null for agents that joined.
alter table agent_credentials add column data_dir_key text;
