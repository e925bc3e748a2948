-- Space on a machine's own disk for rent. `size_bytes` includes what is rented already.
create table volume_offers (
  id integer generated always as identity primary key,
  machine_id integer not null references machines (id),
  size_bytes bigint not null check (size_bytes > 0),
  price_nanos_per_gb_month bigint not null check (price_nanos_per_gb_month >= 0),
  end_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unlisted_at timestamptz
);

create unique index volume_offers_live on volume_offers (machine_id) where unlisted_at is null;

-- Rented space: a part of one machine's disk or of one network disk. Size and price are agreed for good when it is rented.
create table volumes (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  machine_id integer references machines (id),
  volume_offer_id integer references volume_offers (id),
  network_disk_id integer references network_disks (id),
  network_volume_offer_id integer references network_volume_offers (id),
  name text not null check (name ~ '^[A-Za-z0-9_]{0,64}$'),
  size_bytes bigint not null check (size_bytes > 0),
  price_nanos_per_gb_month bigint not null check (price_nanos_per_gb_month >= 0),
  end_at timestamptz not null,
  created_at timestamptz not null,
  deleted_at timestamptz,
  check ((machine_id is null) = (volume_offer_id is null)),
  check ((network_disk_id is null) = (network_volume_offer_id is null)),
  check ((machine_id is null) <> (network_disk_id is null))
);

create index volumes_user_id on volumes (user_id) where deleted_at is null;
create index volumes_machine_id on volumes (machine_id) where deleted_at is null;
create index volumes_network_disk_id on volumes (network_disk_id) where deleted_at is null;

-- A row per instance that mounts the volume, from its creation until its end, running or stopped.
create table volume_attachments (
  volume_id integer not null references volumes (id),
  instance_id integer not null references instances (id),
  mount_path text not null check (mount_path like '/_%'),
  attached_at timestamptz not null,
  primary key (volume_id, instance_id),
  unique (instance_id, mount_path)
);
