-- Whether a machine can be trusted, and whether it is to be left in peace for a while.
alter table machines
  -- An administrator has decided about its verification: the rule leaves it alone.
  add column is_verification_fixed boolean not null default false,
  -- Since when a start of a renter is known to work; none yet when null.
  add column first_start_succeeded_at timestamptz,
  -- Since when its starts have failed, one after the other; null when the last one succeeded.
  add column starts_fail_since_at timestamptz,
  -- How often it has rested since a start succeeded: each rest is twice as long as the one before.
  add column rest_count integer not null default 0 check (rest_count >= 0);

create index machines_resting on machines (rests_until_at) where rests_until_at is not null;
create index machines_listed_until on machines (offer_end_at) where is_listed;
