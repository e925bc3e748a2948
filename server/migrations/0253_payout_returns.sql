-- What of a payout was taken back so far, in how many steps, and when last: a part of it leaves the payout paid, and all of it
-- makes it failed. Of one that failed everything came back, whatever stands here.
alter table payouts
  add column returned_nanos bigint not null default 0,
  add column return_count integer not null default 0 check (return_count >= 0),
  add column returned_at timestamptz,
  add constraint payouts_returned check (
    returned_nanos >= 0 and returned_nanos <= amount_nanos and (returned_nanos = 0) = (returned_at is null)
      and (returned_nanos = 0) = (return_count = 0)
  );
