-- The terms under which an offer was shown. Whoever rents it by its id gets these or better ones: when a term becomes worse
-- for renters, the offer is retired as replaced and another one takes its place. Null for offers of earlier versions.
alter table offers
  add column price_device_nanos_per_hour bigint,
  add column price_disk_nanos_per_gb_month bigint,
  add column price_inet_up_nanos_per_gb bigint,
  add column price_inet_down_nanos_per_gb bigint,
  add column credit_discount_max_permille integer,
  add column end_at timestamptz,
  add column is_verified boolean,
  add column hosting_type integer,
  -- GPU model and memory, cores, number of devices and country. Null: not recorded.
  add column hardware text,
  -- Retired since its terms became worse, not since it was rented or is out of stock.
  add column is_replaced boolean not null default false,
  add constraint offers_replaced_are_retired check (not is_replaced or retired_at is not null);

update offers set
  price_device_nanos_per_hour = machines.price_device_nanos_per_hour,
  price_disk_nanos_per_gb_month = machines.price_disk_nanos_per_gb_month,
  price_inet_up_nanos_per_gb = machines.price_inet_up_nanos_per_gb,
  price_inet_down_nanos_per_gb = machines.price_inet_down_nanos_per_gb,
  credit_discount_max_permille = machines.credit_discount_max_permille,
  end_at = machines.offer_end_at,
  is_verified = machines.verification = 'verified',
  hosting_type = machines.hosting_type
from machines where machines.id = offers.machine_id and offers.retired_at is null;

-- The same for space on disks.
alter table volume_offers
  add column is_replaced boolean not null default false,
  add constraint volume_offers_replaced_are_unlisted check (not is_replaced or unlisted_at is not null);
alter table network_volume_offers
  add column is_replaced boolean not null default false,
  add constraint network_volume_offers_replaced_are_unlisted check (not is_replaced or unlisted_at is not null);
