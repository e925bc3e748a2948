-- As before (migration 0312); and what a won dispute restores of an advance of the house is granted, as the advance was:
-- counted as cash it would be paid in twice, once here and once where it was spent.
create or replace function ledger_granted_part(kind text, code text, amount bigint, balance bigint, granted bigint)
returns bigint language sql immutable as $$
  select case
    when kind = 'issuance' then case when code = 'credit_granted' then amount else 0 end
    when kind = 'stripe' and code = 'payment_returned' then amount
    when kind in ('fees', 'payouts', 'stripe', 'losses') then 0
    when code in ('payout', 'fee', 'payment_returned', 'taken_back', 'earnings_taken_back') and kind in ('credit', 'earnings')
      then amount - least(amount, greatest(balance - granted, 0))
    else amount - least(amount - least(amount, greatest(granted, 0)), greatest(balance - granted, 0))
  end
$$;
