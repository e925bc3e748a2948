-- The public key of the SSH server in front of an instance, as its host last told it: `type base64`, never with a name.
alter table instances add column observed_ssh_host_key text;

-- Pairs of ports of the control plane, each named by its first one, through which instances are reached that have no
-- port of their own on their host. Which pairs there are is the configuration's affair; a start makes it so.
create table proxy_ports (
  port integer primary key check (port between 1 and 65534),
  -- Null while the pair is free.
  instance_id integer unique references instances (id),
  -- The pair that was free for the longest is given next: whoever still knows it from before finds nobody, not somebody.
  freed_at timestamptz,
  -- Two servers on one machine with the same pairs do not begin with the same one.
  place double precision not null default random()
);

create index proxy_ports_free on proxy_ports (freed_at nulls first, place) where instance_id is null;

-- The authority that signs the certificates of instances. There is one, whichever server made it first.
create table certificate_authorities (
  id smallint primary key default 1 check (id = 1),
  certificate_pem text not null,
  -- The private key, sealed by the server's secret.
  sealed_key text not null,
  created_at timestamptz not null
);
