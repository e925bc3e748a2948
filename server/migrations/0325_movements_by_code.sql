-- no-transaction
-- Movements of one kind since a moment: each payment has a receipt, each credit for a failure a credit note.
drop index concurrently if exists ledger_transfers_movements_by_code;
create index concurrently ledger_transfers_movements_by_code on ledger_transfers (code, created_at, id)
  where code not in ('usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down');
