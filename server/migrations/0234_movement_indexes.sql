-- no-transaction
-- Movements of money that are not for usage, for whoever has millions of those: an invoice finds them at once.
drop index concurrently if exists ledger_transfers_debit_movements;
create index concurrently ledger_transfers_debit_movements on ledger_transfers (debit_account_id, created_at, id)
  where code not in ('usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down');
drop index concurrently if exists ledger_transfers_credit_movements;
create index concurrently ledger_transfers_credit_movements on ledger_transfers (credit_account_id, created_at, id)
  where code not in ('usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down');
