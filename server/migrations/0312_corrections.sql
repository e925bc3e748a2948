-- What administrators book by hand, each with a reason: earnings that are taken back from a host, and corrections of credit
-- and earnings in either direction. The other side is the account of the house's losses.
alter table ledger_transfers drop constraint ledger_transfers_code;
alter table ledger_transfers add constraint ledger_transfers_code check (code in (
  'credit_granted', 'credit_transfer', 'usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down',
  'prepay', 'refund', 'payout', 'fee', 'payment', 'payment_returned', 'host_credit', 'payout_returned', 'write_off',
  'grant_released', 'storage_owed', 'taken_back', 'earnings_taken_back', 'correction'
));

-- As before (migration 0273); and earnings that are taken back are cash as far as there is any: granted ones wait anyway.
create or replace function ledger_granted_part(kind text, code text, amount bigint, balance bigint, granted bigint)
returns bigint language sql immutable as $$
  select case
    when kind = 'issuance' then case when code = 'credit_granted' then amount else 0 end
    when kind in ('fees', 'payouts', 'stripe', 'losses') then 0
    when code in ('payout', 'fee', 'payment_returned', 'taken_back', 'earnings_taken_back') and kind in ('credit', 'earnings')
      then amount - least(amount, greatest(balance - granted, 0))
    else amount - least(amount - least(amount, greatest(granted, 0)), greatest(balance - granted, 0))
  end
$$;
