-- What the market knows of a machine beyond its listing, and of a rental beyond its price.
alter table machines
  -- 0 in somebody's room, 1 in a data centre that an operator has seen.
  add column hosting_type integer not null default 0 check (hosting_type in (0, 1)),
  -- A listing that has no fixed end ends so long after the last day it was rolled on.
  add column offer_duration_s bigint check (offer_duration_s > 0),
  -- Measured uptime, in millionths (docs/reliability.md); a new machine has to earn its trust.
  add column reliability_ppm integer not null default 600000 check (reliability_ppm >= 0 and reliability_ppm <= 1000000),
  -- Out of rotation until then: its last starts failed.
  add column rests_until_at timestamptz,
  -- When the schedule has to look at it again although nothing happens: a minimum slice ends.
  add column review_at timestamptz;

create index machines_review_at on machines (review_at) where review_at is not null;
create index machines_rolling on machines (offer_end_at) where offer_duration_s is not null;

alter table instances
  -- A host's own job on idle GPUs: below every bid, and free of charge.
  add column is_background boolean not null default false,
  -- When it last had to leave for a higher claim.
  add column displaced_at timestamptz,
  -- Part of its price that prepaying takes off, in millionths, while its deposit lasts.
  add column discount_ppm integer not null default 0 check (discount_ppm >= 0 and discount_ppm <= 1000000);
