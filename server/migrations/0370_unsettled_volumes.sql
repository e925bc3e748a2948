-- no-transaction
-- The volumes of one account that may still be charged, those that are deleted included: each transfer of credit asks.
drop index concurrently if exists volumes_unsettled;
create index concurrently volumes_unsettled on volumes (user_id) where settle_at is not null;
