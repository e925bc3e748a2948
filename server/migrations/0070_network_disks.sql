-- A disk that several machines of one host mount, and what its owner offers of it for rent.
create table network_disks (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  size_bytes bigint not null check (size_bytes > 0),
  created_at timestamptz not null
);

create index network_disks_user_id on network_disks (user_id);

create table network_disk_mounts (
  network_disk_id integer not null references network_disks (id),
  machine_id integer not null references machines (id),
  mount_path text not null check (mount_path like '/%'),
  created_at timestamptz not null,
  primary key (network_disk_id, machine_id)
);

create index network_disk_mounts_machine_id on network_disk_mounts (machine_id);

-- `size_bytes` is all that the listing ever rents out at one time, what is rented already included.
create table network_volume_offers (
  id integer generated always as identity primary key,
  network_disk_id integer not null references network_disks (id),
  size_bytes bigint not null check (size_bytes > 0),
  price_nanos_per_gb_month bigint not null check (price_nanos_per_gb_month >= 0),
  credit_discount_max_permille integer not null check (credit_discount_max_permille between 0 and 1000),
  end_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unlisted_at timestamptz
);

create unique index network_volume_offers_live on network_volume_offers (network_disk_id) where unlisted_at is null;
