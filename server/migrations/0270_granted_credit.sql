-- Credit that administrators gave is not cash. Each account counts the part of its balance that came of grants, each
-- transfer the part that it moved, so that a host's earnings say how much of them somebody has paid for.

alter table ledger_accounts
  -- The part of the balance that is granted; the rest is cash. Negative where the house has advanced something.
  add column granted_nanos bigint not null default 0,
  -- What of it was there before transfers said their parts.
  add column granted_opening_nanos bigint not null default 0;

alter table ledger_transfers
  add column granted_nanos bigint not null default 0,
  add constraint ledger_transfers_granted check (granted_nanos >= 0 and granted_nanos <= amount_nanos);

-- What users have left of grants counts as granted from now on; what hosts have earned before stays cash.
update ledger_accounts a set granted_nanos = g.granted, granted_opening_nanos = g.granted
from (
  select t.credit_account_id as id, sum(t.amount_nanos) as given from ledger_transfers t
  where t.code = 'credit_granted' group by t.credit_account_id
) given
cross join lateral (
  select least(given.given, greatest(o.balance_nanos, 0))::bigint as granted from ledger_accounts o where o.id = given.id
) g
where a.id = given.id and g.granted > 0;

update ledger_accounts a set granted_nanos = -s.granted, granted_opening_nanos = -s.granted
from (select sum(granted_nanos)::bigint as granted from ledger_accounts where kind = 'credit') s
where a.kind = 'issuance' and s.granted > 0;

-- What a transfer takes of the granted part of its debit account. Granted credit goes first, whatever it pays for; what
-- leaves the house (a payout, its fee, money back to a card) is cash as far as there is any. Beyond both, what is given
-- is an advance of the house, and counts as granted. `server/src/domains/money/ledger/earnings/granted.ts` says the same.
create function ledger_granted_part(kind text, code text, amount bigint, balance bigint, granted bigint)
returns bigint language sql immutable as $$
  select case
    when kind = 'issuance' then case when code = 'credit_granted' then amount else 0 end
    when kind in ('fees', 'payouts', 'stripe', 'losses') then 0
    when code in ('payout', 'fee', 'payment_returned') and kind in ('credit', 'earnings')
      then amount - least(amount, greatest(balance - granted, 0))
    else amount - least(amount - least(amount, greatest(granted, 0)), greatest(balance - granted, 0))
  end
$$;

-- What a host owes for its failures brings its earnings below zero: later earnings pay it.
alter table ledger_accounts drop constraint ledger_accounts_sources;
update ledger_accounts set floor_nanos = -3000000000000000000 where kind = 'earnings';
alter table ledger_accounts add constraint ledger_accounts_sources check (
  kind in ('issuance', 'stripe', 'losses', 'earnings') or floor_nanos = 0 or (kind = 'credit' and floor_nanos < 0)
);

create or replace function ledger_make_accounts(account_users integer[], account_kinds text[]) returns void
language sql as $$
  insert into ledger_accounts (user_id, kind, floor_nanos)
  select nullif(wanted.user_id, 0), wanted.kind,
    case when wanted.kind in ('issuance', 'stripe', 'losses', 'earnings') then -3000000000000000000 else 0 end
  from unnest(account_users, account_kinds) as wanted (user_id, kind)
  where not exists (
    select from ledger_accounts a where coalesce(a.user_id, 0) = wanted.user_id and a.kind = wanted.kind
  )
  order by wanted.user_id, wanted.kind
  on conflict do nothing
$$;

alter table ledger_transfers drop constraint ledger_transfers_code;
alter table ledger_transfers add constraint ledger_transfers_code check (code in (
  'credit_granted', 'credit_transfer', 'usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down',
  'prepay', 'refund', 'payout', 'fee', 'payment', 'payment_returned', 'host_credit', 'payout_returned', 'write_off',
  'grant_released', 'storage_owed', 'taken_back'
));

-- When granted earnings may be paid: after so many days, or by an administrator's word alone where that is null. And for
-- how many days money that was paid by card is neither transferred nor paid out.
alter table payment_rules
  add column granted_after_days integer check (granted_after_days >= 0),
  add column card_hold_days integer not null default 14 check (card_hold_days between 0 and 365);

-- As before (migration 0225); and each transfer says what of it is granted. Earnings go below zero by transfers that the
-- caller has counted, and by none of these.
create or replace function ledger_post_batch(
  account_users integer[], account_kinds text[],
  keys text[], debits integer[], credits integer[], amounts bigint[], codes text[], causes jsonb[],
  descriptions text[], firsts integer[], posted_at timestamptz
) returns table (outcome text, transfer_id bigint, shortfall_nanos bigint, available_nanos bigint)
language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  account record;
  stored record;
  account_count integer := cardinality(account_users);
  -- A repetition may come from another address than the first attempt.
  origin constant text := 'ip_address';
  found_count integer;
  ids integer[];
  balances bigint[];
  -- What each account may give away: balance − held − floor.
  spendables bigint[];
  -- What of that is below zero.
  reserves bigint[];
  granteds bigint[];
  granted_parts bigint[];
  -- At the first position of a key: the position that posted it in this batch, 0 when it was stored before.
  holders integer[];
  outcomes text[];
  transfer_ids bigint[];
  shortfalls bigint[];
  availables bigint[];
  posted_count integer := 0;
  written_count integer;
  holder integer;
  is_same boolean;
  debit integer;
  credit integer;
  amount bigint;
  reach bigint;
begin
  for attempt in 1 .. 2 loop
    found_count := 0;
    for account in
      select a.id, a.balance_nanos, a.held_nanos, a.floor_nanos, a.granted_nanos, wanted.position
      from unnest(account_users, account_kinds) with ordinality as wanted (user_id, kind, position)
      join ledger_accounts a on coalesce(a.user_id, 0) = wanted.user_id and a.kind = wanted.kind
      order by a.id
      for update of a
    loop
      ids[account.position] := account.id;
      balances[account.position] := account.balance_nanos;
      spendables[account.position] := account.balance_nanos - account.held_nanos
        - case when account_kinds[account.position] = 'earnings' then 0 else account.floor_nanos end;
      reserves[account.position] := case when account_kinds[account.position] = 'credit' then -account.floor_nanos else 0 end;
      granteds[account.position] := account.granted_nanos;
      found_count := found_count + 1;
    end loop;
    exit when found_count = account_count;
    perform ledger_make_accounts(account_users, account_kinds);
  end loop;

  for stored in select t.key from ledger_transfers t where t.key = any (keys) loop
    holders[array_position(keys, stored.key)] := 0;
  end loop;

  for i in 1 .. cardinality(keys) loop
    debit := debits[i];
    credit := credits[i];
    amount := amounts[i];
    reach := spendables[debit] - reserves[debit] * case
      when codes[i] = 'usage_storage' then 0
      when codes[i] in ('credit_transfer', 'prepay') then 2
      else 1
    end;
    holder := holders[firsts[i]];
    shortfalls[i] := null;
    availables[i] := null;
    granted_parts[i] := 0;
    if holder is null and reach < amount then
      outcomes[i] := 'insufficient';
      transfer_ids[i] := null;
      shortfalls[i] := amount - reach;
      availables[i] := reach;
    elsif holder is null then
      outcomes[i] := 'posted';
      transfer_ids[i] := nextval('ledger_transfers_id_seq');
      holders[firsts[i]] := i;
      posted_count := posted_count + 1;
      granted_parts[i] := ledger_granted_part(
        account_kinds[debit], codes[i], amount, balances[debit], granteds[debit]
      );
      granteds[debit] := granteds[debit] - granted_parts[i];
      granteds[credit] := granteds[credit] + granted_parts[i];
      balances[debit] := balances[debit] - amount;
      balances[credit] := balances[credit] + amount;
      spendables[debit] := spendables[debit] - amount;
      spendables[credit] := spendables[credit] + amount;
    elsif holder = 0 then
      select t.id, t.debit_account_id, t.credit_account_id, t.amount_nanos, t.code, t.cause
      into stored
      from ledger_transfers t where t.key = keys[i];
      is_same := stored.debit_account_id = ids[debit] and stored.credit_account_id = ids[credit]
        and stored.amount_nanos = amount and stored.code = codes[i] and stored.cause - origin = causes[i] - origin;
      transfer_ids[i] := stored.id;
      outcomes[i] := case when is_same then 'exists' else 'key_conflict' end;
    else
      is_same := debits[holder] = debit and credits[holder] = credit and amounts[holder] = amount
        and codes[holder] = codes[i] and causes[holder] - origin = causes[i] - origin;
      transfer_ids[i] := transfer_ids[holder];
      outcomes[i] := case when is_same then 'exists' else 'key_conflict' end;
    end if;
  end loop;

  if posted_count > 0 then
    insert into ledger_transfers
      (id, key, debit_account_id, credit_account_id, amount_nanos, granted_nanos, code, cause, description, created_at)
    select r.transfer_id, r.key, ids[r.debit], ids[r.credit], r.amount, r.granted, r.code, r.cause, r.description, posted_at
    from unnest(outcomes, transfer_ids, keys, debits, credits, amounts, granted_parts, codes, causes, descriptions)
      as r (outcome, transfer_id, key, debit, credit, amount, granted, code, cause, description)
    where r.outcome = 'posted'
    on conflict (key) do nothing;
    get diagnostics written_count = row_count;
    -- Somebody posted one of these keys between other accounts at this very moment: what we decided no longer holds.
    if written_count < posted_count then
      raise exception 'a transfer key was taken meanwhile' using errcode = 'serialization_failure';
    end if;

    update ledger_accounts a set balance_nanos = b.balance_nanos, granted_nanos = b.granted_nanos
    from unnest(ids, balances, granteds) as b (id, balance_nanos, granted_nanos)
    where a.id = b.id and (a.balance_nanos <> b.balance_nanos or a.granted_nanos <> b.granted_nanos);
  end if;

  return query select * from unnest(outcomes, transfer_ids, shortfalls, availables);
end
$$;
