-- A payment that is disputed after it was spent leaves a debt: credit below zero that later credit makes good, and that
-- nothing may be charged against.
alter table ledger_accounts
  add column debt_nanos bigint not null default 0 check (debt_nanos >= 0);
alter table ledger_accounts drop constraint ledger_accounts_floor;
alter table ledger_accounts add constraint ledger_accounts_floor
  check (balance_nanos - held_nanos >= floor_nanos - debt_nanos);

-- As before (migration 0270); and what is taken back for a disputed payment is cash as far as there is any.
create or replace function ledger_granted_part(kind text, code text, amount bigint, balance bigint, granted bigint)
returns bigint language sql immutable as $$
  select case
    when kind = 'issuance' then case when code = 'credit_granted' then amount else 0 end
    when kind in ('fees', 'payouts', 'stripe', 'losses') then 0
    when code in ('payout', 'fee', 'payment_returned', 'taken_back') and kind in ('credit', 'earnings')
      then amount - least(amount, greatest(balance - granted, 0))
    else amount - least(amount - least(amount, greatest(granted, 0)), greatest(balance - granted, 0))
  end
$$;
