-- Nobody looks for what left an account but for movements, which have an index of their own (0234): charges are found by
-- charge_lines. Each settlement writes hundreds of thousands of transfers, and each index makes each of them dearer.
drop index ledger_transfers_debit;
