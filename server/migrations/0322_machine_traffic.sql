-- What all containers of a machine are said to have moved since a moment, to hold it against the machine's one line.
create table machine_traffic (
  machine_id integer primary key references machines (id),
  since_at timestamptz not null,
  received_bytes bigint not null check (received_bytes >= 0),
  sent_bytes bigint not null check (sent_bytes >= 0)
);
