-- no-transaction
-- Who wants a card charged when credit is low: a loop asks for them every half minute.
drop index concurrently if exists users_autobilled;
create index concurrently users_autobilled on users (id) include (balance_threshold_nanos)
  where balance_threshold_enabled and deleted_at is null;
-- What an early end takes from a deposit besides the fee: a movement, though its code is that of usage.
drop index concurrently if exists ledger_transfers_deposit_ends;
create index concurrently ledger_transfers_deposit_ends on ledger_transfers (debit_account_id, created_at, id)
  where code = 'usage_gpu' and key like 'deposit:%';
-- Whether a key is limited, asked before each transfer of credit.
drop index concurrently if exists ledger_caps_scope;
create index concurrently ledger_caps_scope on ledger_caps (scope);
