-- Accounts whose credit is used up: what they store is kept until a time that is stated once, and charged down to a floor.

create table arrears (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  began_at timestamptz not null,
  -- When everything is deleted if nothing is paid. Stated to the user at the beginning, and never moved.
  delete_at timestamptz not null,
  -- What that followed from (docs/billing.md): what was spent on average in a day, and what the data cost in an hour.
  daily_spend_nanos bigint not null check (daily_spend_nanos >= 0),
  storage_nanos_per_hour bigint not null check (storage_nanos_per_hour > 0),
  -- How far below zero credit may go meanwhile.
  floor_nanos bigint not null check (floor_nanos < 0),
  ended_at timestamptz,
  outcome text check (outcome in ('paid', 'deleted')),
  -- What the house bore in the end.
  written_off_nanos bigint not null default 0 check (written_off_nanos >= 0),
  constraint arrears_interval check (began_at < delete_at),
  constraint arrears_ended check ((ended_at is null) = (outcome is null)),
  constraint arrears_written_off check (written_off_nanos = 0 or outcome = 'deleted')
);

create unique index arrears_open on arrears (user_id) where ended_at is null;
create index arrears_user on arrears (user_id, id);

-- How near to its end the credit of a user was when the user was told last: each drop is told of once.
create table credit_drops (
  user_id integer primary key references users (id),
  -- Drops so far; the present one ends when the credit lasts again.
  drop_count integer not null check (drop_count > 0),
  -- Below how many hours it has been told of; null when it lasts.
  told_hours integer check (told_hours > 0)
);

-- Posts transfers in the order given, each seeing the effect of those before it. The accounts of the whole batch come
-- as distinct (user, kind) pairs, 0 for the house, and transfers name them by position; they are locked once, by id.
-- `firsts[i]` is the first position with the key of i. One row per transfer comes back, in order: posted | exists |
-- insufficient (with the missing and the available amount) | key_conflict. Below zero, down to its floor, credit pays for
-- what is stored and for nothing else; and as much above zero is not given away, since what is stored may not be posted.
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
      select a.id, a.balance_nanos, a.held_nanos, a.floor_nanos, wanted.position
      from unnest(account_users, account_kinds) with ordinality as wanted (user_id, kind, position)
      join ledger_accounts a on coalesce(a.user_id, 0) = wanted.user_id and a.kind = wanted.kind
      order by a.id
      for update of a
    loop
      ids[account.position] := account.id;
      balances[account.position] := account.balance_nanos;
      spendables[account.position] := account.balance_nanos - account.held_nanos - account.floor_nanos;
      reserves[account.position] := case when account_kinds[account.position] = 'credit' then -account.floor_nanos else 0 end;
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
      (id, key, debit_account_id, credit_account_id, amount_nanos, code, cause, description, created_at)
    select r.transfer_id, r.key, ids[r.debit], ids[r.credit], r.amount, r.code, r.cause, r.description, posted_at
    from unnest(outcomes, transfer_ids, keys, debits, credits, amounts, codes, causes, descriptions)
      as r (outcome, transfer_id, key, debit, credit, amount, code, cause, description)
    where r.outcome = 'posted'
    on conflict (key) do nothing;
    get diagnostics written_count = row_count;
    -- Somebody posted one of these keys between other accounts at this very moment: what we decided no longer holds.
    if written_count < posted_count then
      raise exception 'a transfer key was taken meanwhile' using errcode = 'serialization_failure';
    end if;

    update ledger_accounts a set balance_nanos = b.balance_nanos
    from unnest(ids, balances) as b (id, balance_nanos)
    where a.id = b.id and a.balance_nanos <> b.balance_nanos;
  end if;

  return query select * from unnest(outcomes, transfer_ids, shortfalls, availables);
end
$$;

-- What a cap does not bear of storage is not paid, while the balance could: that is not for ever either. One row for each
-- time in which a cap left nothing for what is stored within its scope.
create table cap_arrears (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  -- No foreign key: whoever removes the cap ends it, and it stays in the books.
  cap_id integer not null,
  scope text not null,
  period text not null,
  began_at timestamptz not null,
  -- When what is stored within the scope is deleted, as stated at the beginning (docs/caps.md); never moved.
  delete_at timestamptz not null,
  daily_spend_nanos bigint not null check (daily_spend_nanos >= 0),
  storage_nanos_per_hour bigint not null check (storage_nanos_per_hour > 0),
  ended_at timestamptz,
  outcome text check (outcome in ('lifted', 'deleted')),
  constraint cap_arrears_interval check (began_at + interval '48 hours' <= delete_at),
  constraint cap_arrears_ended check ((ended_at is null) = (outcome is null))
);

create unique index cap_arrears_open on cap_arrears (cap_id) where ended_at is null;
create index cap_arrears_user on cap_arrears (user_id, scope, began_at);
