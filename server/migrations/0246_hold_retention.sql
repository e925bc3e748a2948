-- no-transaction
-- A closed hold moves nothing, and nobody reads it any more: settling makes millions of them in a day. One that is pending
-- stays, since what accounts and caps have set aside is its sum.
create or replace trigger ledger_holds_keep before delete on ledger_holds
  for each row when (old.state = 'pending') execute function ledger_refuse_change();
drop index concurrently if exists ledger_holds_closed_at;
create index concurrently ledger_holds_closed_at on ledger_holds (closed_at) where closed_at is not null;
