-- A disputed payment is also taken back from what its payer prepaid: the account is then a deposit, as `deposit:12`.
alter table payment_takings drop constraint payment_takings_account_kind_check;
alter table payment_takings add constraint payment_takings_account_kind_check
  check (account_kind in ('credit', 'earnings') or account_kind ~ '^deposit:[0-9]+$');

-- As before (migration 0347); and what is taken back from a deposit is cash as far as there is any.
create or replace function ledger_granted_part(kind text, code text, amount bigint, balance bigint, granted bigint)
returns bigint language sql immutable as $$
  select case
    when kind = 'issuance' then case when code = 'credit_granted' then amount else 0 end
    when kind = 'stripe' and code = 'payment_returned' then amount
    when kind in ('fees', 'payouts', 'stripe', 'losses') then 0
    when (kind in ('credit', 'earnings')
        and code in ('payout', 'fee', 'payment_returned', 'taken_back', 'earnings_taken_back'))
      or (kind like 'deposit:%' and code = 'taken_back')
      then amount - least(amount, greatest(balance - granted, 0))
    else amount - least(amount - least(amount, greatest(granted, 0)), greatest(balance - granted, 0))
  end
$$;
