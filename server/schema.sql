-- Made from server/migrations by tools/dump-schema.ts: read it here, change it there.

set check_function_bodies = off;

CREATE OR REPLACE FUNCTION public.account_freezes_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and old.lifted_at is null and new.lifted_at is not null
    and (old.id, old.user_id, old.reason, old.frozen_by, old.frozen_at, old.request_id)
      is not distinct from (new.id, new.user_id, new.reason, new.frozen_by, new.frozen_at, new.request_id)
  then
    return new;
  end if;
  raise exception 'account_freezes: a freeze is lifted once, and neither changed otherwise nor deleted';
end
$function$;

CREATE OR REPLACE FUNCTION public.billing_audit_transfers()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into audit_events (user_id, api_key_id, ip_address, action, arguments, created_at)
  select coalesce((p.cause ->> 'actor_id')::integer, sender.user_id), (p.cause ->> 'api_key_id')::integer,
    coalesce(p.cause ->> 'ip_address', ''), 'api.billing.transfer_credit',
    jsonb_strip_nulls(jsonb_build_object(
      'transfer_id', p.id,
      'sender_id', case when p.cause ? 'actor_id' then sender.user_id end,
      'member_id', p.cause -> 'member_id',
      'recipient_id', recipient.user_id,
      'amount', trim_scale(p.amount_nanos / 1e9),
      'apikey_id', p.cause -> 'apikey_id'
    )),
    p.created_at
  from posted p
  join ledger_accounts sender on sender.id = p.debit_account_id
  join ledger_accounts recipient on recipient.id = p.credit_account_id
  where p.code = 'credit_transfer' and sender.user_id is not null
  order by p.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.ledger_close_holds(hold_ids bigint[], closed_state text, closed_at timestamp with time zone)
 RETURNS SETOF bigint
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_variable
begin
  -- Accounts before holds, as everywhere: whoever has the account's lock may close its holds.
  perform from ledger_accounts a
  where a.id in (select h.account_id from ledger_holds h where h.id = any (hold_ids))
  order by a.id
  for update of a;

  return query
  with closed as (
    update ledger_holds h set state = closed_state, closed_at = ledger_close_holds.closed_at
    where h.id = any (hold_ids) and h.state = 'pending'
    returning h.id, h.account_id, h.amount_nanos, h.scopes
  ), freed as (
    update ledger_accounts a set held_nanos = a.held_nanos - s.amount_nanos
    from (select c.account_id, sum(c.amount_nanos)::bigint as amount_nanos from closed c group by c.account_id) s
    where a.id = s.account_id
    returning a.id, a.user_id
  ), uncapped as (
    update ledger_caps k set held_nanos = k.held_nanos - s.amount_nanos
    from (
      select m.id, sum(c.amount_nanos)::bigint as amount_nanos
      from closed c
      join freed f on f.id = c.account_id
      cross join unnest(c.scopes) as own (scope)
      join ledger_caps m on m.scope = own.scope and m.user_id = f.user_id
      group by m.id
    ) s
    where k.id = s.id
  )
  select c.id from closed c;
end
$function$;

CREATE OR REPLACE FUNCTION public.ledger_granted_part(kind text, code text, amount bigint, balance bigint, granted bigint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.ledger_make_accounts(account_users integer[], account_kinds text[])
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into ledger_accounts (user_id, kind, floor_nanos)
  select nullif(wanted.user_id, 0), wanted.kind,
    case when wanted.kind in ('issuance', 'stripe', 'losses', 'earnings') then -3000000000000000000 else 0 end
  from unnest(account_users, account_kinds) as wanted (user_id, kind)
  where not exists (
    select from ledger_accounts a where coalesce(a.user_id, 0) = wanted.user_id and a.kind = wanted.kind
  )
  order by wanted.user_id, wanted.kind
  on conflict do nothing
$function$;

CREATE OR REPLACE FUNCTION public.ledger_period_start(period text, at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select case period
    when 'day' then date_trunc('day', at, 'UTC')
    when 'month' then date_trunc('month', at, 'UTC')
    else timestamptz 'epoch'
  end
$function$;

CREATE OR REPLACE FUNCTION public.ledger_place_holds(users integer[], owners integer[], amounts bigint[], causes jsonb[], scope_lists text[], placed_at timestamp with time zone)
 RETURNS TABLE(hold_id bigint, shortfall_nanos bigint, available_nanos bigint, cap_id integer, cap_scope text, cap_period text)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
declare
  account record;
  cap record;
  found_count integer;
  ids integer[];
  helds bigint[];
  spendables bigint[];
  cap_ids integer[] := '{}';
  cap_users integer[];
  cap_scopes text[];
  cap_periods text[];
  cap_rooms bigint[];
  cap_added bigint[];
  hold_ids bigint[];
  shortfalls bigint[];
  availables bigint[];
  short_caps integer[];
  owner integer;
  room bigint;
  tightest integer;
  request_scopes text[];
begin
  for attempt in 1 .. 2 loop
    found_count := 0;
    for account in
      select a.id, a.balance_nanos, a.held_nanos, a.floor_nanos, wanted.position
      from unnest(users) with ordinality as wanted (user_id, position)
      join ledger_accounts a on coalesce(a.user_id, 0) = wanted.user_id and a.kind = 'credit'
      order by a.id
      for update of a
    loop
      ids[account.position] := account.id;
      helds[account.position] := account.held_nanos;
      spendables[account.position] := account.balance_nanos - account.held_nanos - abs(account.floor_nanos);
      found_count := found_count + 1;
    end loop;
    exit when found_count = cardinality(users);
    perform ledger_make_accounts(users, array_fill('credit'::text, array[cardinality(users)]));
  end loop;

  -- Whoever has no cap pays for one look, and for nothing else.
  if exists (select from ledger_caps c where c.user_id = any (users)) then
    for cap in
      select c.id, c.user_id, c.scope, c.period,
        c.limit_nanos - c.held_nanos - case
          when c.period_started_at < ledger_period_start(c.period, placed_at) then 0 else c.spent_nanos
        end as room_nanos
      from ledger_caps c
      where c.user_id = any (users)
        and c.scope in (select unnest(string_to_array(list, ' ')) from unnest(scope_lists) as lists (list))
      order by c.id
      for update of c
    loop
      cap_ids := cap_ids || cap.id;
      cap_users := cap_users || cap.user_id;
      cap_scopes := cap_scopes || cap.scope;
      cap_periods := cap_periods || cap.period;
      cap_rooms := cap_rooms || cap.room_nanos;
      cap_added := cap_added || 0::bigint;
    end loop;
  end if;

  for i in 1 .. cardinality(owners) loop
    owner := owners[i];
    hold_ids[i] := null;
    shortfalls[i] := null;
    short_caps[i] := null;
    room := spendables[owner];
    tightest := null;
    request_scopes := case when cardinality(cap_ids) > 0 then string_to_array(scope_lists[i], ' ') end;
    for j in 1 .. cardinality(cap_ids) loop
      if cap_rooms[j] < room and cap_users[j] = users[owner] and cap_scopes[j] = any (request_scopes) then
        room := cap_rooms[j];
        tightest := j;
      end if;
    end loop;
    availables[i] := room;
    if room < amounts[i] then
      shortfalls[i] := amounts[i] - room;
      short_caps[i] := tightest;
    else
      hold_ids[i] := nextval('ledger_holds_id_seq');
      helds[owner] := helds[owner] + amounts[i];
      spendables[owner] := spendables[owner] - amounts[i];
      for j in 1 .. cardinality(cap_ids) loop
        if cap_users[j] = users[owner] and cap_scopes[j] = any (request_scopes) then
          cap_rooms[j] := cap_rooms[j] - amounts[i];
          cap_added[j] := cap_added[j] + amounts[i];
        end if;
      end loop;
    end if;
  end loop;

  insert into ledger_holds (id, account_id, amount_nanos, cause, scopes, created_at)
  overriding system value
  select r.hold_id, ids[r.owner], r.amount, r.cause, string_to_array(r.scopes, ' '), placed_at
  from unnest(hold_ids, owners, amounts, causes, scope_lists) as r (hold_id, owner, amount, cause, scopes)
  where r.hold_id is not null;

  update ledger_accounts a set held_nanos = b.held_nanos
  from unnest(ids, helds) as b (id, held_nanos)
  where a.id = b.id and a.held_nanos <> b.held_nanos;

  if cardinality(cap_ids) > 0 then
    update ledger_caps c set held_nanos = c.held_nanos + b.added
    from unnest(cap_ids, cap_added) as b (id, added)
    where c.id = b.id and b.added > 0;
  end if;

  return query
  select r.hold_id, r.shortfall, r.available, cap_ids[r.cap], cap_scopes[r.cap], cap_periods[r.cap]
  from unnest(hold_ids, shortfalls, availables, short_caps) as r (hold_id, shortfall, available, cap);
end
$function$;

CREATE OR REPLACE FUNCTION public.ledger_post_batch(account_users integer[], account_kinds text[], keys text[], debits integer[], credits integer[], amounts bigint[], codes text[], causes jsonb[], descriptions text[], firsts integer[], posted_at timestamp with time zone)
 RETURNS TABLE(outcome text, transfer_id bigint, shortfall_nanos bigint, available_nanos bigint)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.ledger_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op);
end
$function$;

CREATE OR REPLACE FUNCTION public.live_device()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select m.host_id, 'machine', m.id, 'changed', live_machine_facts(m.is_connected, m.is_listed, m.verification)
  from machines m where m.id = new.machine_id and m.deleted_at is null;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.live_endpoint()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.user_id, 'endpoint', new.id,
    case when tg_op = 'INSERT' then 'created' when new.deleted_at is not null then 'deleted' else 'changed' end,
    jsonb_build_object('name', new.name, 'state', new.state)
  );
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.live_instance()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.user_id, 'instance', new.id,
    case when tg_op = 'INSERT' then 'created' when new.ended_at is not null then 'deleted' else 'changed' end,
    jsonb_build_object(
      'label', new.label, 'machine_id', new.machine_id, 'phase', new.phase, 'desired', new.desired,
      'observed', case when new.observed_generation = new.generation then new.observed_state end,
      'message', case when new.observed_generation = new.generation then left(new.observed_status_msg, 200) end
    )
  );
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.live_machine()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.host_id, 'machine', new.id,
    case when tg_op = 'INSERT' then 'created' when new.deleted_at is not null then 'deleted' else 'changed' end,
    live_machine_facts(new.is_connected, new.is_listed, new.verification)
  );
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.live_machine_facts(is_connected boolean, is_listed boolean, verification text)
 RETURNS jsonb
 LANGUAGE sql
AS $function$
  select jsonb_build_object('is_connected', is_connected, 'is_listed', is_listed, 'verification', verification)
$function$;

CREATE OR REPLACE FUNCTION public.live_machine_parts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select m.host_id, 'machine', m.id, 'changed', live_machine_facts(m.is_connected, m.is_listed, m.verification)
  from machines m where m.id in (select machine_id from changed) and m.deleted_at is null
  order by m.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.live_notification()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.user_id, 'notification', new.id, case when tg_op = 'INSERT' then 'created' else 'changed' end,
    jsonb_build_object('type', new.kind, 'subject', left(new.subject, 200), 'is_read', new.read_at is not null)
  );
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.live_queue()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.user_id, 'queue', new.id,
    case when tg_op = 'INSERT' then 'created' else 'changed' end,
    jsonb_build_object('status', new.status, 'instance_id', new.instance_id)
  );
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.live_released_leases()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select m.host_id, 'machine', m.id, 'changed', live_machine_facts(m.is_connected, m.is_listed, m.verification)
  from machines m
  where m.deleted_at is null and m.id in (
    select n.machine_id from now n join before b on b.id = n.id where b.released_at is distinct from n.released_at
  )
  order by m.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.live_volume()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.user_id, 'volume', new.id,
    case when tg_op = 'INSERT' then 'created' when new.deleted_at is not null then 'deleted' else 'changed' end,
    jsonb_build_object('name', new.name, 'machine_id', new.machine_id, 'is_deleting', new.deleting_at is not null)
  );
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.live_volume_attachment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select v.user_id, 'volume', v.id, 'changed',
    jsonb_build_object('name', v.name, 'machine_id', v.machine_id, 'is_deleting', v.deleting_at is not null)
  from volumes v where v.id = coalesce(new.volume_id, old.volume_id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.live_worker()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  w endpoint_workers := case when tg_op = 'DELETE' then old else new end;
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select e.user_id, 'worker', w.instance_id,
    case tg_op when 'INSERT' then 'created' when 'DELETE' then 'deleted' else 'changed' end,
    jsonb_build_object(
      'endpoint_id', w.endpoint_group_id, 'workergroup_id', w.worker_group_id, 'state', w.state,
      'is_draining', w.draining_at is not null
    )
  from endpoint_groups e where e.id = w.endpoint_group_id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.live_worker_group()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select e.user_id, 'endpoint', e.id, 'changed', jsonb_build_object('name', e.name, 'state', e.state)
  from endpoint_groups e where e.id = new.endpoint_group_id and e.deleted_at is null;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.notify_account_view_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('api_keys_changed', 'key:' || new.session_id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.notify_api_keys_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('api_keys_changed', tg_argv[0] || ':' || old.id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.notify_member_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('api_keys_changed', 'user:' || m.team_id) from team_members m where m.member_id = old.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.notify_session_cookie_due()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('api_keys_changed', 'key:' || new.session_id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.notify_team_rights_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('api_keys_changed', 'user:' || old.team_id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.number_live_changes()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  last bigint;
begin
  if not exists (select 1 from live_changes where number is null) then
    return;
  end if;
  select last_number into last from live_changes_clock for update skip locked;
  if not found then
    return;
  end if;
  with numbered as (
    update live_changes c set number = w.number
    from (
      select seq, last + row_number() over (order by seq) as number from live_changes where number is null
    ) w
    where c.seq = w.seq and c.number is null
    returning c.number
  )
  update live_changes_clock set last_number = coalesce((select max(number) from numbered), last);
end
$function$;

CREATE OR REPLACE FUNCTION public.payout_holds_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' and old.released_at is null and new.released_at is not null
    and (old.id, old.user_id, old.kind, old.reason, old.placed_by, old.placed_at)
      is not distinct from (new.id, new.user_id, new.kind, new.reason, new.placed_by, new.placed_at)
  then
    return new;
  end if;
  raise exception 'payout_holds: a hold is released once, and neither changed otherwise nor deleted';
end
$function$;

create table account_document_clocks (
  kind text not null,
  done_until_at timestamp with time zone not null,
  done_user_id integer default 0 not null,
  constraint account_document_clocks_pkey PRIMARY KEY (kind)
);

create table account_document_sequences (
  kind text not null,
  prefix text not null,
  year integer not null,
  last_sequence integer not null,
  constraint account_document_sequences_pkey PRIMARY KEY (kind, prefix, year),
  constraint account_document_sequences_last_sequence_check CHECK ((last_sequence > 0))
);

create table account_documents (
  number text not null,
  kind text not null,
  prefix text not null,
  year integer not null,
  sequence integer not null,
  user_id integer not null,
  from_at timestamp with time zone,
  until_at timestamp with time zone,
  transfer_id bigint,
  refers_to text,
  issued_at timestamp with time zone not null,
  content jsonb not null,
  constraint account_documents_pkey PRIMARY KEY (number),
  constraint account_documents_sequence UNIQUE (kind, prefix, year, sequence),
  constraint account_documents_kind_check CHECK ((kind = ANY (ARRAY['receipt'::text, 'statement'::text, 'credit_note'::text]))),
  constraint account_documents_sequence_check CHECK ((sequence > 0)),
  constraint account_documents_subject CHECK (
CASE kind
    WHEN 'statement'::text THEN ((until_at > from_at) AND (issued_at >= until_at) AND (transfer_id IS NULL))
    ELSE ((transfer_id IS NOT NULL) AND (from_at IS NULL) AND (until_at IS NULL))
END)
);
CREATE INDEX account_documents_issued_at ON public.account_documents USING btree (issued_at);
CREATE UNIQUE INDEX account_documents_month ON public.account_documents USING btree (user_id, from_at) WHERE (kind = 'statement'::text);
CREATE INDEX account_documents_refers_to ON public.account_documents USING btree (refers_to) WHERE (refers_to IS NOT NULL);
CREATE UNIQUE INDEX account_documents_transfer ON public.account_documents USING btree (transfer_id) WHERE (transfer_id IS NOT NULL);
CREATE INDEX account_documents_user ON public.account_documents USING btree (user_id, issued_at, number);

create table account_freezes (
  id integer generated always as identity,
  user_id integer not null,
  reason text not null,
  frozen_by integer not null,
  frozen_at timestamp with time zone not null,
  request_id text not null,
  lifted_by integer,
  lifted_at timestamp with time zone,
  lift_reason text,
  lift_request_id text,
  constraint account_freezes_pkey PRIMARY KEY (id),
  constraint account_freezes_lift_reason_check CHECK (((length(lift_reason) >= 1) AND (length(lift_reason) <= 500))),
  constraint account_freezes_lifted CHECK ((((lifted_at IS NULL) = (lift_reason IS NULL)) AND ((lifted_at IS NULL) = (lifted_by IS NULL)) AND ((lifted_at IS NULL) = (lift_request_id IS NULL)))),
  constraint account_freezes_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 500)))
);
CREATE UNIQUE INDEX account_freezes_open ON public.account_freezes USING btree (user_id) WHERE (lifted_at IS NULL);

create table account_rules (
  is_only boolean default true not null,
  instances_max integer default 1000 not null,
  volumes_max integer default 1000 not null,
  constraint account_rules_pkey PRIMARY KEY (is_only),
  constraint account_rules_instances_max_check CHECK ((instances_max >= 0)),
  constraint account_rules_is_only_check CHECK (is_only),
  constraint account_rules_volumes_max_check CHECK ((volumes_max >= 0))
);

create table account_secrets (
  user_id integer not null,
  name text not null,
  sealed_value text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint account_secrets_pkey PRIMARY KEY (user_id, name),
  constraint account_secrets_name_check CHECK ((name ~ '^[A-Z_][A-Z0-9_]{0,254}$'::text))
);

create table account_views (
  id integer generated always as identity,
  session_id integer not null,
  admin_id integer not null,
  user_id integer not null,
  reason text not null,
  ip_address text not null,
  began_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  left_at timestamp with time zone,
  constraint account_views_pkey PRIMARY KEY (id),
  constraint account_views_others CHECK ((admin_id <> user_id)),
  constraint account_views_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 500))),
  constraint account_views_span CHECK ((ends_at > began_at))
);
CREATE INDEX account_views_open ON public.account_views USING btree (ends_at) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX account_views_session_id ON public.account_views USING btree (session_id) WHERE (left_at IS NULL);

create table acme_accounts (
  directory_url text not null,
  encrypted_key text not null,
  created_at timestamp with time zone not null,
  constraint acme_accounts_pkey PRIMARY KEY (directory_url)
);

create table acme_challenges (
  token text not null,
  key_authorization text not null,
  expires_at timestamp with time zone not null,
  constraint acme_challenges_pkey PRIMARY KEY (token)
);

create table agent_credentials (
  id integer generated always as identity,
  user_id integer not null,
  name text not null,
  token_sha256 bytea not null,
  is_trusted boolean default false not null,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  fingerprint text,
  host_key text,
  data_dir_key text,
  constraint agent_credentials_pkey PRIMARY KEY (id),
  constraint agent_credentials_token_sha256_key UNIQUE (token_sha256),
  constraint agent_credentials_joined CHECK (((fingerprint IS NULL) = (host_key IS NULL)))
);

create table agent_tasks (
  id text not null,
  number bigint generated always as identity,
  machine_id integer not null,
  instance_id integer,
  user_id integer not null,
  action jsonb not null,
  sealed_auth text,
  result_sha256 bytea,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  cancelled_at timestamp with time zone,
  completed_at timestamp with time zone,
  progress text default ''::text not null,
  is_success boolean,
  result text,
  transfer_id text,
  copied_bytes bigint default 0 not null,
  backup_id integer,
  constraint agent_tasks_pkey PRIMARY KEY (id),
  constraint agent_tasks_result_sha256_key UNIQUE (result_sha256),
  constraint agent_tasks_check CHECK (((completed_at IS NULL) = (is_success IS NULL))),
  constraint agent_tasks_check1 CHECK (((completed_at IS NULL) = (result IS NULL))),
  constraint agent_tasks_check2 CHECK (((completed_at IS NULL) OR (sealed_auth IS NULL))),
  constraint agent_tasks_copied_bytes_check CHECK ((copied_bytes >= 0)),
  constraint agent_tasks_id_check CHECK (((length(id) >= 1) AND (length(id) <= 64))),
  constraint agent_tasks_result_check CHECK ((length(result) <= 1048576)),
  constraint agent_tasks_transfer_id_check CHECK (((length(transfer_id) >= 1) AND (length(transfer_id) <= 64)))
);
CREATE INDEX agent_tasks_expires_at ON public.agent_tasks USING btree (expires_at);
CREATE INDEX agent_tasks_instance_id ON public.agent_tasks USING btree (instance_id) WHERE (instance_id IS NOT NULL);
CREATE INDEX agent_tasks_open ON public.agent_tasks USING btree (machine_id) WHERE (completed_at IS NULL);
CREATE INDEX agent_tasks_transfer_id ON public.agent_tasks USING btree (transfer_id) WHERE (transfer_id IS NOT NULL);
CREATE INDEX agent_tasks_user_id ON public.agent_tasks USING btree (user_id, number);

create table announcements (
  id integer generated always as identity,
  title text not null,
  message text not null,
  level text not null,
  audience text not null,
  from_at timestamp with time zone not null,
  until_at timestamp with time zone,
  created_by integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint announcements_pkey PRIMARY KEY (id),
  constraint announcements_audience_check CHECK ((audience = ANY (ARRAY['everyone'::text, 'hosts'::text, 'renters'::text]))),
  constraint announcements_level_check CHECK ((level = ANY (ARRAY['info'::text, 'warning'::text]))),
  constraint announcements_message_check CHECK (((length(message) >= 1) AND (length(message) <= 2000))),
  constraint announcements_span CHECK (((until_at IS NULL) OR (until_at > from_at))),
  constraint announcements_title_check CHECK (((length(title) >= 1) AND (length(title) <= 120)))
);
CREATE INDEX announcements_shown ON public.announcements USING btree (from_at);

create table api_keys (
  id integer generated always as identity,
  user_id integer not null,
  name text not null,
  key_sha256 bytea not null,
  key_prefix text not null,
  permissions jsonb,
  key_params text default ''::text not null,
  instance_id integer,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  member_id integer,
  kind text default 'api'::text not null,
  expires_at timestamp with time zone,
  ip_address text,
  opened_by_key_id integer,
  demands_tfa boolean default false not null,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_kind CHECK ((kind = ANY (ARRAY['api'::text, 'session'::text, 'tfa'::text]))),
  constraint api_keys_member CHECK (((member_id IS NULL) OR ((instance_id IS NULL) AND (member_id <> user_id)))),
  constraint api_keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255))),
  constraint api_keys_session_ends CHECK (((kind = 'api'::text) = (expires_at IS NULL)))
);
CREATE INDEX api_keys_instance_id ON public.api_keys USING btree (instance_id) WHERE (instance_id IS NOT NULL);
CREATE UNIQUE INDEX api_keys_key_sha256 ON public.api_keys USING btree (key_sha256);
CREATE INDEX api_keys_opened_by_key_id ON public.api_keys USING btree (opened_by_key_id) WHERE ((opened_by_key_id IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX api_keys_user_id ON public.api_keys USING btree (user_id) WHERE (deleted_at IS NULL);

create table arrears (
  id integer generated always as identity,
  user_id integer not null,
  began_at timestamp with time zone not null,
  delete_at timestamp with time zone not null,
  daily_spend_nanos bigint not null,
  storage_nanos_per_hour bigint not null,
  floor_nanos bigint not null,
  ended_at timestamp with time zone,
  outcome text,
  written_off_nanos bigint default 0 not null,
  constraint arrears_pkey PRIMARY KEY (id),
  constraint arrears_daily_spend_nanos_check CHECK ((daily_spend_nanos >= 0)),
  constraint arrears_ended CHECK (((ended_at IS NULL) = (outcome IS NULL))),
  constraint arrears_floor_nanos_check CHECK ((floor_nanos <= 0)),
  constraint arrears_interval CHECK ((began_at < delete_at)),
  constraint arrears_outcome_check CHECK ((outcome = ANY (ARRAY['paid'::text, 'deleted'::text]))),
  constraint arrears_storage_nanos_per_hour_check CHECK ((storage_nanos_per_hour > 0)),
  constraint arrears_written_off CHECK (((written_off_nanos = 0) OR (outcome = 'deleted'::text))),
  constraint arrears_written_off_nanos_check CHECK ((written_off_nanos >= 0))
);
CREATE UNIQUE INDEX arrears_open ON public.arrears USING btree (user_id) WHERE (ended_at IS NULL);
CREATE INDEX arrears_user ON public.arrears USING btree (user_id, id);

create table arrears_rules (
  is_only boolean default true not null,
  limit_nanos bigint default '10000000000'::bigint not null,
  constraint arrears_rules_pkey PRIMARY KEY (is_only),
  constraint arrears_rules_is_only_check CHECK (is_only),
  constraint arrears_rules_limit_nanos_check CHECK ((limit_nanos >= 0))
);

create table audit_events (
  id bigint generated always as identity,
  user_id integer not null,
  api_key_id integer,
  ip_address text not null,
  action text not null,
  arguments jsonb not null,
  created_at timestamp with time zone not null,
  constraint audit_events_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_events_user_id ON public.audit_events USING btree (user_id, id);

create table audit_marks (
  contract text not null,
  contract_id integer not null,
  generation integer not null,
  component text not null,
  position bigint not null,
  reached_at timestamp with time zone not null,
  origin_position bigint default 0 not null,
  constraint audit_marks_pkey PRIMARY KEY (contract, contract_id, generation, component),
  constraint audit_marks_component_check CHECK ((component = ANY (ARRAY['gpu'::text, 'disk'::text, 'bwu'::text, 'bwd'::text]))),
  constraint audit_marks_contract_check CHECK ((contract = ANY (ARRAY['instance'::text, 'volume'::text]))),
  constraint audit_marks_origin_position_check CHECK ((origin_position >= 0)),
  constraint audit_marks_position_check CHECK (("position" >= 0))
);

create table audit_origin (
  is_only boolean default true not null,
  next_transfer_id bigint not null,
  constraint audit_origin_pkey PRIMARY KEY (is_only),
  constraint audit_origin_is_only_check CHECK (is_only)
);

create table audit_seals (
  until_at timestamp with time zone not null,
  next_transfer_id bigint not null,
  next_line_id bigint not null,
  transfer_count bigint not null,
  line_count bigint not null,
  transfers_sha256 text not null,
  lines_sha256 text not null,
  sealed_at timestamp with time zone not null,
  next_fact_link bigint default 1 not null,
  facts_sha256 text default ''::text not null,
  next_audit_event_id bigint default 1 not null,
  constraint audit_seals_pkey PRIMARY KEY (until_at),
  constraint audit_seals_facts_sha256_check CHECK ((length(facts_sha256) = ANY (ARRAY[0, 64]))),
  constraint audit_seals_line_count_check CHECK ((line_count >= 0)),
  constraint audit_seals_lines_sha256_check CHECK ((length(lines_sha256) = 64)),
  constraint audit_seals_next_audit_event_id_check CHECK ((next_audit_event_id > 0)),
  constraint audit_seals_next_fact_link_check CHECK ((next_fact_link > 0)),
  constraint audit_seals_next_line_id_check CHECK ((next_line_id > 0)),
  constraint audit_seals_next_transfer_id_check CHECK ((next_transfer_id > 0)),
  constraint audit_seals_transfer_count_check CHECK ((transfer_count >= 0)),
  constraint audit_seals_transfers_sha256_check CHECK ((length(transfers_sha256) = 64))
);

create table audit_sums (
  account_id integer not null,
  posted_nanos numeric not null,
  constraint audit_sums_pkey PRIMARY KEY (account_id)
);

create table benchmarks (
  id integer generated always as identity,
  machine_id integer not null,
  instance_id integer,
  type text not null,
  measured_by text not null,
  value double precision not null,
  measured_at timestamp with time zone not null,
  gpu_name text,
  num_gpus integer not null,
  user_id integer,
  image text,
  template_id integer,
  template_hash text,
  is_template_public boolean default false not null,
  price_nanos_per_hour bigint,
  constraint benchmarks_pkey PRIMARY KEY (id),
  constraint benchmarks_measured_by_check CHECK ((measured_by = ANY (ARRAY['server'::text, 'worker'::text, 'agent'::text]))),
  constraint benchmarks_num_gpus_check CHECK ((num_gpus >= 0)),
  constraint benchmarks_of_worker CHECK ((((measured_by = 'worker'::text) = (instance_id IS NOT NULL)) AND ((instance_id IS NULL) = (user_id IS NULL)) AND ((instance_id IS NULL) = (price_nanos_per_hour IS NULL)) AND ((type = 'perf'::text) = (measured_by = 'worker'::text)))),
  constraint benchmarks_price_nanos_per_hour_check CHECK ((price_nanos_per_hour >= 0)),
  constraint benchmarks_type_check CHECK ((type = ANY (ARRAY['perf'::text, 'upload'::text, 'download'::text, 'cpu'::text, 'disk'::text]))),
  constraint benchmarks_value_check CHECK (((value > (0)::double precision) AND (value < 'Infinity'::double precision)))
);
CREATE INDEX benchmarks_of_machine ON public.benchmarks USING btree (machine_id);
CREATE UNIQUE INDEX benchmarks_one_of_instance ON public.benchmarks USING btree (instance_id, type) WHERE (instance_id IS NOT NULL);
CREATE UNIQUE INDEX benchmarks_one_of_machine ON public.benchmarks USING btree (machine_id, type, measured_by) WHERE (instance_id IS NULL);

create table bid_floor_watches (
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone not null,
  constraint bid_floor_watches_pkey PRIMARY KEY (started_at),
  constraint bid_floor_watches_check CHECK ((ended_at >= started_at))
);

create table bid_floors (
  machine_id integer not null,
  device_count integer not null,
  at timestamp with time zone not null,
  floor_nanos bigint,
  constraint bid_floors_pkey PRIMARY KEY (machine_id, device_count, at),
  constraint bid_floors_device_count_check CHECK ((device_count > 0))
);
CREATE INDEX bid_floors_by_time ON public.bid_floors USING btree (at);

create table cap_arrears (
  id integer generated always as identity,
  user_id integer not null,
  cap_id integer not null,
  scope text not null,
  period text not null,
  began_at timestamp with time zone not null,
  delete_at timestamp with time zone not null,
  daily_spend_nanos bigint not null,
  storage_nanos_per_hour bigint not null,
  ended_at timestamp with time zone,
  outcome text,
  constraint cap_arrears_pkey PRIMARY KEY (id),
  constraint cap_arrears_daily_spend_nanos_check CHECK ((daily_spend_nanos >= 0)),
  constraint cap_arrears_ended CHECK (((ended_at IS NULL) = (outcome IS NULL))),
  constraint cap_arrears_interval CHECK (((began_at + '48:00:00'::interval) <= delete_at)),
  constraint cap_arrears_outcome_check CHECK ((outcome = ANY (ARRAY['lifted'::text, 'deleted'::text]))),
  constraint cap_arrears_storage_nanos_per_hour_check CHECK ((storage_nanos_per_hour > 0))
);
CREATE UNIQUE INDEX cap_arrears_open ON public.cap_arrears USING btree (cap_id) WHERE (ended_at IS NULL);
CREATE INDEX cap_arrears_user ON public.cap_arrears USING btree (user_id, scope, began_at);

create table certificate_authorities (
  id smallint default 1 not null,
  certificate_pem text not null,
  sealed_key text not null,
  created_at timestamp with time zone not null,
  constraint certificate_authorities_pkey PRIMARY KEY (id),
  constraint certificate_authorities_id_check CHECK ((id = 1))
);

create table charge_days (
  payer_id integer not null,
  day integer not null,
  instance_id integer not null,
  volume_id integer not null,
  component text not null,
  paid_from text not null,
  line_count integer not null,
  first_line_id bigint not null,
  from_at timestamp with time zone not null,
  to_at timestamp with time zone not null,
  last_charged_at timestamp with time zone not null,
  quantity numeric not null,
  amount_nanos bigint not null,
  unpaid_nanos bigint not null,
  lowest_price_nanos bigint not null,
  highest_price_nanos bigint not null,
  highest_discount_ppm integer not null,
  constraint charge_days_pkey PRIMARY KEY (payer_id, day, instance_id, volume_id, component, paid_from),
  constraint charge_days_amount_nanos_check CHECK ((amount_nanos >= 0)),
  constraint charge_days_component_check CHECK ((component = ANY (ARRAY['gpu'::text, 'disk'::text, 'bwu'::text, 'bwd'::text]))),
  constraint charge_days_contract CHECK (((instance_id > 0) <> (volume_id > 0))),
  constraint charge_days_day_check CHECK ((day >= 0)),
  constraint charge_days_line_count_check CHECK ((line_count > 0)),
  constraint charge_days_paid_from_check CHECK ((paid_from = ANY (ARRAY['credit'::text, 'deposit'::text]))),
  constraint charge_days_unpaid_nanos_check CHECK ((unpaid_nanos >= 0))
);
CREATE INDEX charge_days_day ON public.charge_days USING btree (day);

create table charge_days_clock (
  is_only boolean default true not null,
  counted_until_at timestamp with time zone,
  constraint charge_days_clock_pkey PRIMARY KEY (is_only),
  constraint charge_days_clock_is_only_check CHECK (is_only)
);

create table charge_lines (
  id bigint generated always as identity,
  transfer_id bigint,
  payer_id integer not null,
  host_id integer not null,
  machine_id integer,
  instance_id integer,
  volume_id integer,
  generation integer,
  component text not null,
  state text not null,
  cause text not null,
  from_at timestamp with time zone not null,
  to_at timestamp with time zone not null,
  quantity bigint not null,
  size_bytes bigint,
  unit_price_nanos bigint not null,
  discount_ppm integer default 0 not null,
  amount_nanos bigint not null,
  unpaid_nanos bigint default 0 not null,
  paid_from text not null,
  charged_at timestamp with time zone not null,
  constraint charge_lines_pkey PRIMARY KEY (id),
  constraint charge_lines_amount_nanos_check CHECK ((amount_nanos >= 0)),
  constraint charge_lines_component_check CHECK ((component = ANY (ARRAY['gpu'::text, 'disk'::text, 'bwu'::text, 'bwd'::text]))),
  constraint charge_lines_contract CHECK (((instance_id IS NULL) <> (volume_id IS NULL))),
  constraint charge_lines_discount_ppm_check CHECK (((discount_ppm >= 0) AND (discount_ppm < 1000000))),
  constraint charge_lines_interval CHECK ((from_at <= to_at)),
  constraint charge_lines_paid_from_check CHECK ((paid_from = ANY (ARRAY['credit'::text, 'deposit'::text]))),
  constraint charge_lines_quantity_check CHECK ((quantity >= 0)),
  constraint charge_lines_run CHECK (((generation IS NOT NULL) = (component <> 'disk'::text))),
  constraint charge_lines_size CHECK (((size_bytes IS NOT NULL) = (component = 'disk'::text))),
  constraint charge_lines_size_bytes_check CHECK ((size_bytes > 0)),
  constraint charge_lines_state_check CHECK ((state = ANY (ARRAY['running'::text, 'loading'::text, 'stopped'::text, 'stored'::text]))),
  constraint charge_lines_time CHECK (((component = ANY (ARRAY['bwu'::text, 'bwd'::text])) OR (quantity <= ((EXTRACT(epoch FROM (to_at - from_at)) * (1000)::numeric))::bigint))),
  constraint charge_lines_transfer CHECK (((transfer_id IS NOT NULL) = (amount_nanos > 0))),
  constraint charge_lines_unit_price_nanos_check CHECK ((unit_price_nanos >= 0)),
  constraint charge_lines_unpaid_nanos_check CHECK ((unpaid_nanos >= 0))
);
CREATE INDEX charge_lines_charged_at ON public.charge_lines USING brin (charged_at) WITH (pages_per_range='16');
CREATE INDEX charge_lines_instance ON public.charge_lines USING btree (instance_id, id) WHERE (instance_id IS NOT NULL);
CREATE INDEX charge_lines_of_earlier_months ON public.charge_lines USING btree (payer_id, charged_at) WHERE (date_trunc('month'::text, (from_at AT TIME ZONE 'UTC'::text)) < date_trunc('month'::text, (charged_at AT TIME ZONE 'UTC'::text)));
CREATE INDEX charge_lines_payer ON public.charge_lines USING btree (payer_id, charged_at, id);
CREATE INDEX charge_lines_volume ON public.charge_lines USING btree (volume_id, id) WHERE (volume_id IS NOT NULL);

create table cloud_connections (
  id integer generated by default as identity,
  user_id integer not null,
  provider text not null,
  user_given_name text not null,
  endpoint text,
  region text,
  namespace text,
  sealed_settings text not null,
  created_at timestamp with time zone not null,
  constraint cloud_connections_pkey PRIMARY KEY (id),
  constraint cloud_connections_provider_check CHECK ((provider = ANY (ARRAY['s3'::text, 'b2'::text, 'hf'::text]))),
  constraint cloud_connections_user_given_name_check CHECK ((user_given_name <> ''::text))
);
CREATE INDEX cloud_connections_by_user ON public.cloud_connections USING btree (user_id);

create table credit_drops (
  user_id integer not null,
  drop_count integer not null,
  told_hours integer,
  constraint credit_drops_pkey PRIMARY KEY (user_id),
  constraint credit_drops_drop_count_check CHECK ((drop_count > 0)),
  constraint credit_drops_told_hours_check CHECK ((told_hours > 0))
);

create table credit_notice_mark (
  is_only boolean default true not null,
  transfer_id bigint not null,
  constraint credit_notice_mark_pkey PRIMARY KEY (is_only),
  constraint credit_notice_mark_one CHECK (is_only)
);

create table database_restores (
  id integer generated always as identity,
  restored_at timestamp with time zone not null,
  backup_at timestamp with time zone,
  instance_id_after integer not null,
  instance_id_until integer not null,
  constraint database_restores_pkey PRIMARY KEY (id),
  constraint database_restores_check CHECK ((instance_id_until > instance_id_after))
);

create table default_jobs (
  machine_id integer not null,
  image text not null,
  args jsonb not null,
  price_device_nanos_per_hour bigint not null,
  price_inet_up_nanos_per_gb bigint not null,
  price_inet_down_nanos_per_gb bigint not null,
  created_at timestamp with time zone not null,
  constraint default_jobs_pkey PRIMARY KEY (machine_id),
  constraint default_jobs_price_device_nanos_per_hour_check CHECK ((price_device_nanos_per_hour >= 0)),
  constraint default_jobs_price_inet_down_nanos_per_gb_check CHECK ((price_inet_down_nanos_per_gb >= 0)),
  constraint default_jobs_price_inet_up_nanos_per_gb_check CHECK ((price_inet_up_nanos_per_gb >= 0))
);

create table deployment_file_pieces (
  file_id integer not null,
  position integer not null,
  bytes bytea not null,
  constraint deployment_file_pieces_pkey PRIMARY KEY (file_id, "position"),
  constraint deployment_file_pieces_bytes_check CHECK ((length(bytes) > 0)),
  constraint deployment_file_pieces_position_check CHECK (("position" >= 0))
);

create table deployment_files (
  id integer generated always as identity,
  deployment_id integer not null,
  file_hash text not null,
  size_bytes integer not null,
  created_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  constraint deployment_files_pkey PRIMARY KEY (id),
  constraint deployment_files_size_bytes_check CHECK ((size_bytes > 0))
);
CREATE UNIQUE INDEX deployment_files_complete ON public.deployment_files USING btree (deployment_id, file_hash) WHERE (completed_at IS NOT NULL);
CREATE INDEX deployment_files_incomplete ON public.deployment_files USING btree (created_at) WHERE (completed_at IS NULL);

create table deployment_versions (
  id integer generated always as identity,
  deployment_id integer not null,
  file_hash text not null,
  size_bytes integer not null,
  label text not null,
  image text not null,
  env text not null,
  storage_gb double precision not null,
  sealed_login text not null,
  worker_generation integer,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  constraint deployment_versions_pkey PRIMARY KEY (id),
  constraint deployment_versions_file_hash_check CHECK ((file_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint deployment_versions_size_bytes_check CHECK ((size_bytes > 0))
);
CREATE INDEX deployment_versions_deployment_id ON public.deployment_versions USING btree (deployment_id);

create table deployments (
  id integer generated always as identity,
  user_id integer not null,
  api_key_id integer not null,
  name text not null,
  tag text not null,
  endpoint_group_id integer,
  worker_group_id integer,
  search_params text not null,
  ttl_s double precision,
  last_client_heartbeat_at timestamp with time zone not null,
  wanted_version_id integer,
  current_version_id integer,
  last_healthy_version_id integer,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint deployments_pkey PRIMARY KEY (id),
  constraint deployments_user_id_name_tag_key UNIQUE (user_id, name, tag),
  constraint deployments_ttl_s_check CHECK ((ttl_s > (0)::double precision))
);
CREATE INDEX deployments_ttl ON public.deployments USING btree (last_client_heartbeat_at) WHERE (ttl_s IS NOT NULL);
CREATE INDEX deployments_worker_group_id ON public.deployments USING btree (worker_group_id);

create table deposits (
  instance_id integer not null,
  user_id integer not null,
  discount_ppm integer not null,
  prepay_count integer not null,
  at_stake_nanos bigint default 0 not null,
  saved_nanos bigint default 0 not null,
  opened_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  constraint deposits_pkey PRIMARY KEY (instance_id),
  constraint deposits_at_stake_nanos_check CHECK ((at_stake_nanos >= 0)),
  constraint deposits_check CHECK ((saved_nanos >= at_stake_nanos)),
  constraint deposits_discount_ppm_check CHECK (((discount_ppm > 0) AND (discount_ppm < 1000000))),
  constraint deposits_prepay_count_check CHECK ((prepay_count >= 1))
);
CREATE INDEX deposits_open ON public.deposits USING btree (instance_id) WHERE (closed_at IS NULL);

create table device_events (
  id bigint generated always as identity,
  device_id integer not null,
  at timestamp with time zone not null,
  is_healthy boolean not null,
  reason text not null,
  constraint device_events_pkey PRIMARY KEY (id)
);
CREATE INDEX device_events_device_id ON public.device_events USING btree (device_id, id);

create table devices (
  id integer generated always as identity,
  machine_id integer not null,
  kind text not null,
  uuid text not null,
  position integer not null,
  facts jsonb not null,
  is_present boolean default true not null,
  is_healthy boolean default true not null,
  health_reason text default ''::text not null,
  constraint devices_pkey PRIMARY KEY (id),
  constraint devices_uuid_key UNIQUE (uuid),
  constraint devices_kind_check CHECK ((kind = ANY (ARRAY['gpu'::text, 'cpu_core'::text]))),
  constraint devices_position_check CHECK (("position" >= 0))
);
CREATE INDEX devices_machine_id ON public.devices USING btree (machine_id);

create table direct_mails (
  id bigint generated always as identity,
  to_address text not null,
  subject text not null,
  sealed_text text not null,
  attempt_count integer default 0 not null,
  due_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint direct_mails_pkey PRIMARY KEY (id)
);
CREATE INDEX direct_mails_due_at ON public.direct_mails USING btree (due_at);

create table email_proof_mails (
  id bigint generated always as identity,
  email text not null,
  sent_at timestamp with time zone not null,
  constraint email_proof_mails_pkey PRIMARY KEY (id)
);
CREATE INDEX email_proof_mails_email ON public.email_proof_mails USING btree (email, sent_at);

create table email_proofs (
  user_id integer not null,
  email text not null,
  token_sha256 bytea not null,
  sent_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint email_proofs_pkey PRIMARY KEY (user_id),
  constraint email_proofs_check CHECK ((expires_at > sent_at))
);

create table endpoint_events (
  id bigint generated always as identity,
  endpoint_group_id integer not null,
  worker_group_id integer,
  instance_id integer,
  at timestamp with time zone not null,
  kind text not null,
  level smallint not null,
  sentence text not null,
  detail jsonb default '{}'::jsonb not null,
  constraint endpoint_events_pkey PRIMARY KEY (id),
  constraint endpoint_events_kind_check CHECK ((kind = ANY (ARRAY['decision'::text, 'worker'::text, 'change'::text]))),
  constraint endpoint_events_level_check CHECK (((level >= 0) AND (level <= 3))),
  constraint endpoint_events_sentence_check CHECK ((sentence <> ''::text))
);
CREATE INDEX endpoint_events_at ON public.endpoint_events USING brin (at);
CREATE INDEX endpoint_events_group_at ON public.endpoint_events USING btree (endpoint_group_id, id);

create table endpoint_fleets (
  endpoint_group_id integer not null,
  at timestamp with time zone not null,
  ready_count integer not null,
  starting_count integer not null,
  stopping_count integer not null,
  stopped_count integer not null,
  failed_count integer not null,
  ready_perf double precision not null,
  starting_perf double precision not null,
  stopped_perf double precision not null,
  queued_count integer not null,
  nanos_per_hour bigint not null,
  constraint endpoint_fleets_pkey PRIMARY KEY (endpoint_group_id, at)
);
CREATE INDEX endpoint_fleets_at ON public.endpoint_fleets USING brin (at);

create table endpoint_groups (
  id integer generated always as identity,
  user_id integer not null,
  name text not null,
  api_key text not null,
  state text not null,
  min_load double precision not null,
  min_cold_load double precision not null,
  target_util double precision not null,
  cold_mult double precision not null,
  cold_workers integer not null,
  max_workers integer not null,
  max_queue_time_s double precision,
  target_queue_time_s double precision,
  inactivity_timeout_s double precision,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  next_request_idx bigint default 1 not null,
  decided_at timestamp with time zone,
  constraint endpoint_groups_pkey PRIMARY KEY (id),
  constraint endpoint_groups_api_key_key UNIQUE (api_key),
  constraint endpoint_groups_cold_mult_check CHECK ((cold_mult > (0)::double precision)),
  constraint endpoint_groups_cold_workers_check CHECK ((cold_workers >= 0)),
  constraint endpoint_groups_max_queue_time_s_check CHECK ((max_queue_time_s >= (0)::double precision)),
  constraint endpoint_groups_max_workers_check CHECK ((max_workers >= 1)),
  constraint endpoint_groups_min_cold_load_check CHECK ((min_cold_load >= (0)::double precision)),
  constraint endpoint_groups_min_load_check CHECK ((min_load >= (0)::double precision)),
  constraint endpoint_groups_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255))),
  constraint endpoint_groups_state_check CHECK ((state = ANY (ARRAY['active'::text, 'suspended'::text, 'stopped'::text]))),
  constraint endpoint_groups_target_queue_time_s_check CHECK ((target_queue_time_s >= (0)::double precision)),
  constraint endpoint_groups_target_util_check CHECK (((target_util > (0)::double precision) AND (target_util <= (1)::double precision)))
);
CREATE INDEX endpoint_groups_deleted_at ON public.endpoint_groups USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX endpoint_groups_user_id ON public.endpoint_groups USING btree (user_id) WHERE (deleted_at IS NULL);

create table endpoint_load (
  endpoint_group_id integer not null,
  second_at timestamp with time zone not null,
  request_count integer not null,
  load double precision not null,
  waited_count integer default 0 not null,
  wait_ms bigint default 0 not null,
  wait_ms_max integer default 0 not null,
  constraint endpoint_load_pkey PRIMARY KEY (endpoint_group_id, second_at)
);

create table endpoint_worker_names (
  instance_id integer not null,
  endpoint_group_id integer not null,
  worker_group_id integer,
  constraint endpoint_worker_names_pkey PRIMARY KEY (instance_id)
);

create table endpoint_workers (
  instance_id integer not null,
  endpoint_group_id integer not null,
  state text not null,
  removal_attempt_count integer default 0 not null,
  removal_failure text default ''::text not null,
  next_removal_at timestamp with time zone,
  created_at timestamp with time zone not null,
  worker_group_id integer,
  machine_id integer,
  generation integer default 1 not null,
  token_sha256 bytea,
  url text default ''::text not null,
  version text default ''::text not null,
  started_at timestamp with time zone,
  ready_at timestamp with time zone,
  ready_generation integer,
  reported_at timestamp with time zone,
  claimed_perf double precision,
  observed_perf double precision,
  first_start_ms bigint,
  warm_start_ms bigint,
  current_load double precision default 0 not null,
  working_count integer default 0 not null,
  disk_usage_gb double precision default 0 not null,
  active_at timestamp with time zone,
  draining_at timestamp with time zone,
  draining_to text,
  failure text default ''::text not null,
  failed_at timestamp with time zone,
  constraint endpoint_workers_pkey PRIMARY KEY (instance_id),
  constraint endpoint_workers_check CHECK (((state = 'removing'::text) = (next_removal_at IS NOT NULL))),
  constraint endpoint_workers_draining CHECK (((draining_at IS NULL) = (draining_to IS NULL))),
  constraint endpoint_workers_draining_to_check CHECK ((draining_to = ANY (ARRAY['stop'::text, 'destroy'::text, 'update'::text]))),
  constraint endpoint_workers_removal_attempt_count_check CHECK ((removal_attempt_count >= 0)),
  constraint endpoint_workers_state_check CHECK ((state = ANY (ARRAY['active'::text, 'removing'::text])))
);
CREATE INDEX endpoint_workers_endpoint_group_id ON public.endpoint_workers USING btree (endpoint_group_id);
CREATE INDEX endpoint_workers_next_removal_at ON public.endpoint_workers USING btree (next_removal_at) WHERE (state = 'removing'::text);
CREATE INDEX endpoint_workers_worker_group_id ON public.endpoint_workers USING btree (worker_group_id);

create table fact_head (
  is_only boolean default true not null,
  number bigint not null,
  sha256 text not null,
  origin jsonb not null,
  constraint fact_head_pkey PRIMARY KEY (is_only),
  constraint fact_head_is_only_check CHECK (is_only)
);

create table fact_links (
  number bigint not null,
  made_at timestamp with time zone not null,
  fact_count integer not null,
  sha256 text not null,
  signature text not null,
  constraint fact_links_pkey PRIMARY KEY (number),
  constraint fact_links_fact_count_check CHECK ((fact_count > 0)),
  constraint fact_links_number_check CHECK ((number > 0)),
  constraint fact_links_sha256_check CHECK ((length(sha256) = 64)),
  constraint fact_links_signature_check CHECK (((length(signature) >= 80) AND (length(signature) <= 100)))
);
CREATE INDEX fact_links_made_at ON public.fact_links USING btree (made_at);

create table facts (
  link_number bigint not null,
  position integer not null,
  kind text not null,
  subject text not null,
  text text not null,
  constraint facts_pkey PRIMARY KEY (link_number, "position"),
  constraint facts_kind_check CHECK ((kind ~ '^[a-z_]{1,40}$'::text)),
  constraint facts_position_check CHECK (("position" > 0)),
  constraint facts_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 200)))
);
CREATE INDEX facts_subject ON public.facts USING btree (kind, subject, link_number) WHERE (kind <> ALL (ARRAY['transfer'::text, 'audit_event'::text]));

create table failed_starts (
  instance_id integer not null,
  generation integer not null,
  machine_id integer not null,
  renter_id integer not null,
  at timestamp with time zone not null,
  reason text not null,
  is_counted boolean not null,
  constraint failed_starts_pkey PRIMARY KEY (instance_id, generation),
  constraint failed_starts_generation_check CHECK ((generation >= 1)),
  constraint failed_starts_reason_check CHECK ((length(reason) <= 1000))
);
CREATE INDEX failed_starts_by_machine ON public.failed_starts USING btree (machine_id, at);

create table gpu_bucket_samples (
  step_s integer not null,
  at timestamp with time zone not null,
  gpu_name text not null,
  verified text not null,
  hosting text not null,
  bucket text not null,
  rented_count double precision not null,
  available_count double precision not null,
  unavailable_count double precision not null,
  dlperf double precision not null,
  tflops double precision not null,
  price_p10_nanos bigint,
  price_p25_nanos bigint,
  price_p50_nanos bigint,
  price_p75_nanos bigint,
  price_p90_nanos bigint,
  rented_p10_nanos bigint,
  rented_p50_nanos bigint,
  rented_p90_nanos bigint,
  available_p10_nanos bigint,
  available_p50_nanos bigint,
  available_p90_nanos bigint,
  available_min_nanos bigint,
  constraint gpu_bucket_samples_pkey PRIMARY KEY (step_s, at, bucket, verified, hosting, gpu_name),
  constraint gpu_bucket_samples_available_count_check CHECK ((available_count >= (0)::double precision)),
  constraint gpu_bucket_samples_bucket_check CHECK ((bucket = ANY (ARRAY['1'::text, '2'::text, '4'::text, '8'::text, 'other'::text]))),
  constraint gpu_bucket_samples_hosting_check CHECK ((hosting = ANY (ARRAY['secure_cloud'::text, 'community'::text, 'all'::text]))),
  constraint gpu_bucket_samples_rented_count_check CHECK ((rented_count >= (0)::double precision)),
  constraint gpu_bucket_samples_unavailable_count_check CHECK ((unavailable_count >= (0)::double precision)),
  constraint gpu_bucket_samples_verified_check CHECK ((verified = ANY (ARRAY['yes'::text, 'no'::text, 'all'::text])))
);

create table gpu_sample_runs (
  step_s integer not null,
  at timestamp with time zone not null,
  constraint gpu_sample_runs_pkey PRIMARY KEY (step_s, at),
  constraint gpu_sample_runs_step_s_check CHECK ((step_s = ANY (ARRAY[300, 3600, 86400])))
);

create table gpu_samples (
  step_s integer not null,
  at timestamp with time zone not null,
  gpu_name text not null,
  verified text not null,
  hosting text not null,
  rented_count double precision not null,
  available_count double precision not null,
  dlperf double precision not null,
  tflops double precision not null,
  price_p10_nanos bigint,
  price_p25_nanos bigint,
  price_p50_nanos bigint,
  price_p75_nanos bigint,
  price_p90_nanos bigint,
  rented_p10_nanos bigint,
  rented_p50_nanos bigint,
  rented_p90_nanos bigint,
  available_p10_nanos bigint,
  available_p50_nanos bigint,
  available_p90_nanos bigint,
  unavailable_count double precision default 0 not null,
  available_min_nanos bigint,
  constraint gpu_samples_pkey PRIMARY KEY (step_s, at, verified, hosting, gpu_name),
  constraint gpu_samples_available_count_check CHECK ((available_count >= (0)::double precision)),
  constraint gpu_samples_hosting_check CHECK ((hosting = ANY (ARRAY['secure_cloud'::text, 'community'::text, 'all'::text]))),
  constraint gpu_samples_rented_count_check CHECK ((rented_count >= (0)::double precision)),
  constraint gpu_samples_unavailable_count_check CHECK ((unavailable_count >= (0)::double precision)),
  constraint gpu_samples_verified_check CHECK ((verified = ANY (ARRAY['yes'::text, 'no'::text, 'all'::text])))
);

create table host_faults (
  instance_id integer not null,
  generation integer not null,
  reason text not null,
  at timestamp with time zone not null,
  settled_at timestamp with time zone,
  credited_nanos bigint,
  constraint host_faults_pkey PRIMARY KEY (instance_id, generation),
  constraint host_faults_credited_nanos_check CHECK ((credited_nanos >= 0)),
  constraint host_faults_reason_check CHECK ((reason = ANY (ARRAY['host_lost'::text, 'host_stopped'::text, 'device_fault'::text]))),
  constraint host_faults_settled CHECK (((settled_at IS NULL) = (credited_nanos IS NULL)))
);
CREATE INDEX host_faults_open ON public.host_faults USING btree (instance_id) WHERE (settled_at IS NULL);

create table host_flags (
  id integer generated always as identity,
  host_id integer not null,
  machine_id integer,
  kind text not null,
  detail text not null,
  facts jsonb not null,
  since_at timestamp with time zone not null,
  last_at timestamp with time zone not null,
  seen_count integer default 1 not null,
  cleared_at timestamp with time zone,
  cleared_by_id integer,
  clear_reason text,
  constraint host_flags_pkey PRIMARY KEY (id),
  constraint host_flags_cleared CHECK ((((cleared_at IS NULL) = (cleared_by_id IS NULL)) AND ((cleared_at IS NULL) = (clear_reason IS NULL)))),
  constraint host_flags_kind_check CHECK ((kind = ANY (ARRAY['senseless_facts'::text, 'traffic_beyond_line'::text, 'traffic_below_proxied'::text, 'slow_line'::text, 'impossible_start'::text, 'unproven_start'::text]))),
  constraint host_flags_seen_count_check CHECK ((seen_count > 0))
);
CREATE INDEX host_flags_of_host ON public.host_flags USING btree (host_id, id);
CREATE UNIQUE INDEX host_flags_one_open ON public.host_flags USING btree (host_id, COALESCE(machine_id, 0), kind) WHERE (cleared_at IS NULL);

create table idempotency_keys (
  api_key_id integer not null,
  key text not null,
  request_sha256 bytea not null,
  response bytea,
  created_at timestamp with time zone not null,
  constraint idempotency_keys_pkey PRIMARY KEY (api_key_id, key),
  constraint idempotency_keys_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
);
CREATE INDEX idempotency_keys_created_at ON public.idempotency_keys USING btree (created_at);

create table installation (
  is_only boolean default true not null,
  secret_check bytea,
  admin_key_data_dir text,
  admin_key_place text,
  constraint installation_pkey PRIMARY KEY (is_only),
  constraint installation_is_only_check CHECK (is_only)
);

create table instance_backups (
  id integer generated always as identity,
  kind text not null,
  contract_id integer not null,
  user_id integer not null,
  machine_id integer not null,
  cause text not null,
  status text not null,
  problem text default ''::text not null,
  task_id text,
  attempt integer default 0 not null,
  size_bytes bigint,
  created_at timestamp with time zone not null,
  made_at timestamp with time zone,
  file_deleted_at timestamp with time zone,
  constraint instance_backups_pkey PRIMARY KEY (id),
  constraint instance_backups_attempt_check CHECK ((attempt >= 0)),
  constraint instance_backups_cause_check CHECK ((cause = ANY (ARRAY['asked'::text, 'contract_end'::text]))),
  constraint instance_backups_contract_id_check CHECK ((contract_id > 0)),
  constraint instance_backups_kind_check CHECK ((kind = ANY (ARRAY['instance'::text, 'volume'::text]))),
  constraint instance_backups_of_error CHECK (((status = 'error'::text) = (problem <> ''::text))),
  constraint instance_backups_of_success CHECK ((((status = 'success'::text) = (made_at IS NOT NULL)) AND ((made_at IS NULL) = (size_bytes IS NULL)) AND ((file_deleted_at IS NULL) OR (made_at IS NOT NULL)))),
  constraint instance_backups_problem_check CHECK ((length(problem) <= 1024)),
  constraint instance_backups_size_bytes_check CHECK ((size_bytes >= 0)),
  constraint instance_backups_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'success'::text, 'error'::text])))
);
CREATE INDEX instance_backups_kept ON public.instance_backups USING btree (made_at) WHERE ((status = 'success'::text) AND (file_deleted_at IS NULL));
CREATE INDEX instance_backups_of_user ON public.instance_backups USING btree (user_id, id);
CREATE UNIQUE INDEX instance_backups_one_at_the_end ON public.instance_backups USING btree (kind, contract_id) WHERE ((cause = 'contract_end'::text) AND (status <> 'error'::text));
CREATE UNIQUE INDEX instance_backups_one_pending ON public.instance_backups USING btree (kind, contract_id) WHERE (status = 'pending'::text);
CREATE UNIQUE INDEX instance_backups_task_id ON public.instance_backups USING btree (task_id);

create table instance_events (
  id bigint generated always as identity,
  instance_id integer not null,
  at timestamp with time zone not null,
  actor text not null,
  cause text not null,
  from_phase text,
  to_phase text not null,
  generation integer not null,
  constraint instance_events_pkey PRIMARY KEY (id)
);
CREATE INDEX instance_events_instance_id ON public.instance_events USING btree (instance_id, id);

create table instance_runs (
  instance_id integer not null,
  generation integer not null,
  running_ms bigint default 0 not null,
  received_bytes bigint default 0 not null,
  sent_bytes bigint default 0 not null,
  charged_running_ms bigint default 0 not null,
  started_at timestamp with time zone not null,
  last_counted_at timestamp with time zone not null,
  usage jsonb,
  charged_received_bytes bigint default 0 not null,
  charged_sent_bytes bigint default 0 not null,
  metered_from_at timestamp with time zone,
  sealed_at timestamp with time zone,
  heard_running_ms bigint default 0 not null,
  heard_received_bytes bigint default 0 not null,
  heard_sent_bytes bigint default 0 not null,
  spare_ms bigint default 0 not null,
  chargeable_until_at timestamp with time zone default 'infinity'::timestamp with time zone,
  spare_traffic_ms bigint default 0 not null,
  needs_evidence boolean default false not null,
  evidence_at timestamp with time zone,
  not_running_at timestamp with time zone,
  started_by_clock integer,
  not_running_by_clock integer,
  constraint instance_runs_pkey PRIMARY KEY (instance_id, generation),
  constraint instance_runs_begin_after_word CHECK (((not_running_at IS NULL) OR (metered_from_at IS NULL) OR (metered_from_at >= not_running_at))),
  constraint instance_runs_charged_bytes CHECK (((charged_received_bytes >= 0) AND (charged_received_bytes <= received_bytes) AND (charged_sent_bytes >= 0) AND (charged_sent_bytes <= sent_bytes))),
  constraint instance_runs_check CHECK (((charged_running_ms >= 0) AND (charged_running_ms <= running_ms))),
  constraint instance_runs_received_bytes_check CHECK ((received_bytes >= 0)),
  constraint instance_runs_running_ms_check CHECK ((running_ms >= 0)),
  constraint instance_runs_sent_bytes_check CHECK ((sent_bytes >= 0)),
  constraint instance_runs_spare_ms_check CHECK ((spare_ms >= 0)),
  constraint instance_runs_spare_traffic_ms_check CHECK ((spare_traffic_ms >= 0))
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX instance_runs_without_evidence ON public.instance_runs USING btree (started_at) WHERE (needs_evidence AND (evidence_at IS NULL) AND (sealed_at IS NULL));

create table instance_ssh_keys (
  instance_id integer not null,
  ssh_key_id integer not null,
  public_key text not null,
  fingerprint text not null,
  created_at timestamp with time zone not null,
  constraint instance_ssh_keys_pkey PRIMARY KEY (instance_id, ssh_key_id),
  constraint instance_ssh_keys_instance_id_fingerprint_key UNIQUE (instance_id, fingerprint),
  constraint instance_ssh_keys_public_key_check CHECK (((length(public_key) >= 1) AND (length(public_key) <= 16384) AND (public_key !~ '[\r\n]'::text)))
);

create table instance_tabs (
  instance_id integer not null,
  user_id integer not null,
  is_free boolean default false not null,
  hold_id bigint,
  metered_from_at timestamp with time zone,
  storage_charged_until_at timestamp with time zone,
  settle_at timestamp with time zone,
  unsettled_since_at timestamp with time zone,
  constraint instance_tabs_pkey PRIMARY KEY (instance_id)
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.05, autovacuum_analyze_scale_factor=0.05);
CREATE INDEX instance_tabs_open ON public.instance_tabs USING btree (user_id) WHERE (settle_at IS NOT NULL);
CREATE INDEX instance_tabs_settle_at ON public.instance_tabs USING btree (settle_at) WHERE (settle_at IS NOT NULL);

create table instances (
  id integer generated by default as identity,
  user_id integer not null,
  machine_id integer not null,
  offer_id integer not null,
  template_id integer,
  template_hash_id text,
  label text,
  is_bid boolean not null,
  price_nanos_per_hour bigint not null,
  storage_nanos_per_gb_month bigint not null,
  inet_up_nanos_per_gb bigint not null,
  inet_down_nanos_per_gb bigint not null,
  device_count integer not null,
  disk_bytes bigint not null,
  launch jsonb not null,
  desired text not null,
  phase text not null,
  phase_cause text not null,
  phase_since_at timestamp with time zone not null,
  deadline_at timestamp with time zone,
  generation integer default 0 not null,
  observed_generation integer default 0 not null,
  observed_state text,
  observed_status_msg text default ''::text not null,
  observed_ports jsonb default '{}'::jsonb not null,
  observed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  end_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  revision integer default 0 not null,
  observed_ssh_host_key text,
  device_problem text default ''::text not null,
  is_background boolean default false not null,
  displaced_at timestamp with time zone,
  discount_ppm integer default 0 not null,
  claimed_at timestamp with time zone,
  cap_scopes text[] default '{}'::text[] not null,
  told_end_at timestamp with time zone,
  traffic_limit_nanos bigint,
  traffic_spent_nanos bigint default 0 not null,
  traffic_left_nanos bigint,
  traffic_left_at_ms bigint default 0 not null,
  traffic_reached_at timestamp with time zone,
  bundle_id bigint,
  observed_pull jsonb,
  newer_runs_until_at timestamp with time zone,
  constraint instances_pkey PRIMARY KEY (id),
  constraint instances_bundle_id_check CHECK ((bundle_id >= 0)),
  constraint instances_desired_check CHECK ((desired = ANY (ARRAY['running'::text, 'stopped'::text, 'destroyed'::text]))),
  constraint instances_device_count_check CHECK ((device_count >= 1)),
  constraint instances_discount_ppm_check CHECK (((discount_ppm >= 0) AND (discount_ppm <= 1000000))),
  constraint instances_disk_bytes_check CHECK ((disk_bytes > 0)),
  constraint instances_generation_check CHECK ((generation >= 0)),
  constraint instances_inet_down_nanos_per_gb_check CHECK ((inet_down_nanos_per_gb >= 0)),
  constraint instances_inet_up_nanos_per_gb_check CHECK ((inet_up_nanos_per_gb >= 0)),
  constraint instances_phase_check CHECK ((phase = ANY (ARRAY['scheduled'::text, 'starting'::text, 'running'::text, 'yielding'::text, 'stopping'::text, 'stopped'::text, 'ending'::text, 'ended'::text]))),
  constraint instances_price_nanos_per_hour_check CHECK ((price_nanos_per_hour >= 0)),
  constraint instances_revision_check CHECK ((revision >= 0)),
  constraint instances_storage_nanos_per_gb_month_check CHECK ((storage_nanos_per_gb_month >= 0)),
  constraint instances_traffic_left_at_ms_check CHECK ((traffic_left_at_ms >= 0)),
  constraint instances_traffic_left_nanos_check CHECK ((traffic_left_nanos >= 0)),
  constraint instances_traffic_limit_nanos_check CHECK ((traffic_limit_nanos >= 0)),
  constraint instances_traffic_spent_nanos_check CHECK ((traffic_spent_nanos >= 0)),
  constraint instances_traffic_within_limit CHECK (((traffic_limit_nanos IS NULL) OR (traffic_spent_nanos <= traffic_limit_nanos)))
) with (autovacuum_analyze_scale_factor=0.05);
CREATE INDEX instances_clear_launch ON public.instances USING btree (id) WHERE (launch ? 'env'::text);
CREATE INDEX instances_deadline_at ON public.instances USING btree (deadline_at) WHERE (deadline_at IS NOT NULL);
CREATE INDEX instances_end_at ON public.instances USING btree (end_at) WHERE (ended_at IS NULL);
CREATE INDEX instances_machine_id ON public.instances USING btree (machine_id) WHERE (ended_at IS NULL);
CREATE INDEX instances_over ON public.instances USING btree (user_id, machine_id) WHERE (ended_at IS NOT NULL);
CREATE INDEX instances_scheduled ON public.instances USING btree (machine_id) WHERE (phase = 'scheduled'::text);
CREATE INDEX instances_user_id ON public.instances USING btree (user_id) WHERE (ended_at IS NULL);

create table invitation_mails (
  id bigint generated always as identity,
  email text not null,
  invited_by integer not null,
  sent_at timestamp with time zone not null,
  constraint invitation_mails_pkey PRIMARY KEY (id)
);
CREATE INDEX invitation_mails_email ON public.invitation_mails USING btree (email, sent_at);
CREATE INDEX invitation_mails_invited_by ON public.invitation_mails USING btree (invited_by, sent_at);
CREATE INDEX invitation_mails_sent_at ON public.invitation_mails USING btree (sent_at);

create table invoice_document_clock (
  is_only boolean default true not null,
  next_from_at timestamp with time zone,
  done_user_id integer default 0 not null,
  usage_by_month_from_at timestamp with time zone,
  constraint invoice_document_clock_pkey PRIMARY KEY (is_only),
  constraint invoice_document_clock_is_only_check CHECK (is_only)
);

create table invoice_documents (
  id integer generated always as identity,
  number text not null,
  prefix text not null,
  year integer not null,
  sequence integer not null,
  user_id integer not null,
  from_at timestamp with time zone not null,
  until_at timestamp with time zone not null,
  issued_at timestamp with time zone not null,
  content jsonb not null,
  constraint invoice_documents_pkey PRIMARY KEY (id),
  constraint invoice_documents_month UNIQUE (user_id, from_at),
  constraint invoice_documents_number_key UNIQUE (number),
  constraint invoice_documents_sequence UNIQUE (prefix, year, sequence),
  constraint invoice_documents_check CHECK ((until_at > from_at)),
  constraint invoice_documents_check1 CHECK ((issued_at >= until_at)),
  constraint invoice_documents_sequence_check CHECK ((sequence > 0))
);
CREATE INDEX invoice_documents_issued_at ON public.invoice_documents USING btree (issued_at);

create table invoice_sequences (
  prefix text not null,
  year integer not null,
  last_sequence integer not null,
  constraint invoice_sequences_pkey PRIMARY KEY (prefix, year),
  constraint invoice_sequences_last_sequence_check CHECK ((last_sequence > 0))
);

create table ip_accesses (
  id integer generated always as identity,
  user_id integer not null,
  ip_address text not null,
  first_seen_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  request_count bigint default 0 not null,
  constraint ip_accesses_pkey PRIMARY KEY (id),
  constraint ip_accesses_user_id_ip_address_key UNIQUE (user_id, ip_address)
);

create table join_tokens (
  id integer generated always as identity,
  user_id integer not null,
  name text not null,
  token_sha256 bytea not null,
  is_trusted boolean not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  used_by_sha256 bytea,
  agent_credential_id integer,
  constraint join_tokens_pkey PRIMARY KEY (id),
  constraint join_tokens_token_sha256_key UNIQUE (token_sha256),
  constraint join_tokens_check CHECK ((expires_at > created_at)),
  constraint join_tokens_check1 CHECK ((((used_at IS NULL) = (used_by_sha256 IS NULL)) AND ((used_at IS NULL) = (agent_credential_id IS NULL)))),
  constraint join_tokens_name_check CHECK ((length(name) <= 255))
);
CREATE INDEX join_tokens_user_id ON public.join_tokens USING btree (user_id);

create table leases (
  id bigint generated always as identity,
  device_id integer not null,
  machine_id integer not null,
  instance_id integer not null,
  generation integer not null,
  is_bid boolean not null,
  price_nanos_per_device_hour bigint not null,
  granted_at timestamp with time zone not null,
  released_at timestamp with time zone,
  constraint leases_pkey PRIMARY KEY (id),
  constraint leases_generation_check CHECK ((generation >= 1)),
  constraint leases_price_nanos_per_device_hour_check CHECK ((price_nanos_per_device_hour >= 0))
) with (autovacuum_analyze_scale_factor=0.05);
CREATE INDEX leases_by_instance ON public.leases USING btree (instance_id);
CREATE INDEX leases_live_by_machine ON public.leases USING btree (machine_id) WHERE (released_at IS NULL);
CREATE UNIQUE INDEX leases_one_live_per_device ON public.leases USING btree (device_id) WHERE (released_at IS NULL);
CREATE INDEX leases_released ON public.leases USING btree (device_id, released_at) WHERE (released_at IS NOT NULL);

create table ledger_accounts (
  id integer generated always as identity,
  user_id integer,
  kind text not null,
  balance_nanos bigint default 0 not null,
  held_nanos bigint default 0 not null,
  floor_nanos bigint default 0 not null,
  granted_nanos bigint default 0 not null,
  granted_opening_nanos bigint default 0 not null,
  debt_nanos bigint default 0 not null,
  constraint ledger_accounts_pkey PRIMARY KEY (id),
  constraint ledger_accounts_debt_nanos_check CHECK ((debt_nanos >= 0)),
  constraint ledger_accounts_floor CHECK (((balance_nanos - held_nanos) >= (floor_nanos - debt_nanos))),
  constraint ledger_accounts_held CHECK ((held_nanos >= 0)),
  constraint ledger_accounts_kind CHECK (((kind = ANY (ARRAY['credit'::text, 'earnings'::text, 'issuance'::text, 'fees'::text, 'payouts'::text, 'stripe'::text, 'losses'::text])) OR (kind ~ '^deposit:[1-9][0-9]{0,9}$'::text))),
  constraint ledger_accounts_owner_kind CHECK (((user_id IS NOT NULL) = ((kind = ANY (ARRAY['credit'::text, 'earnings'::text])) OR (kind ~~ 'deposit:%'::text)))),
  constraint ledger_accounts_sources CHECK (((kind = ANY (ARRAY['issuance'::text, 'stripe'::text, 'losses'::text, 'earnings'::text])) OR (floor_nanos = 0) OR ((kind = 'credit'::text) AND (floor_nanos < 0))))
) with (fillfactor=50);
CREATE UNIQUE INDEX ledger_accounts_owner ON public.ledger_accounts USING btree (COALESCE(user_id, 0), kind);

create table ledger_cap_changes (
  id bigint generated always as identity,
  user_id integer not null,
  scope text not null,
  period text not null,
  limit_nanos bigint,
  changed_at timestamp with time zone not null,
  holds_from_at timestamp with time zone not null,
  constraint ledger_cap_changes_pkey PRIMARY KEY (id),
  constraint ledger_cap_changes_holds_from CHECK ((holds_from_at >= changed_at)),
  constraint ledger_cap_changes_limit CHECK ((limit_nanos >= 0))
);
CREATE INDEX ledger_cap_changes_cap ON public.ledger_cap_changes USING btree (user_id, scope, period, id);

create table ledger_caps (
  id integer generated always as identity,
  user_id integer not null,
  scope text not null,
  period text not null,
  limit_nanos bigint not null,
  spent_nanos bigint not null,
  period_started_at timestamp with time zone not null,
  held_nanos bigint not null,
  reached_at timestamp with time zone,
  created_at timestamp with time zone not null,
  holds_from_at timestamp with time zone default now() not null,
  limit_before_nanos bigint,
  constraint ledger_caps_pkey PRIMARY KEY (id),
  constraint ledger_caps_held CHECK ((held_nanos >= 0)),
  constraint ledger_caps_limit CHECK ((limit_nanos >= 0)),
  constraint ledger_caps_limit_before CHECK ((limit_before_nanos >= 0)),
  constraint ledger_caps_period CHECK ((period = ANY (ARRAY['day'::text, 'month'::text, 'total'::text]))),
  constraint ledger_caps_scope CHECK ((scope ~ '^(account|key|endpoint|instance):[1-9][0-9]{0,9}$'::text)),
  constraint ledger_caps_spent CHECK ((spent_nanos >= 0))
);
CREATE INDEX ledger_caps_scope ON public.ledger_caps USING btree (scope);
CREATE UNIQUE INDEX ledger_caps_scope_period ON public.ledger_caps USING btree (user_id, scope, period);

create table ledger_earned_clock (
  is_only boolean default true not null,
  counted_until_at timestamp with time zone,
  constraint ledger_earned_clock_pkey PRIMARY KEY (is_only),
  constraint ledger_earned_clock_is_only_check CHECK (is_only)
);

create table ledger_earned_days (
  account_id integer not null,
  day integer not null,
  machine_id integer not null,
  code text not null,
  amount_nanos bigint not null,
  constraint ledger_earned_days_pkey PRIMARY KEY (account_id, day, machine_id, code),
  constraint ledger_earned_days_amount_nanos_check CHECK ((amount_nanos > 0)),
  constraint ledger_earned_days_day_check CHECK ((day >= 0)),
  constraint ledger_earned_days_machine_id_check CHECK ((machine_id >= 0))
);
CREATE INDEX ledger_earned_days_day ON public.ledger_earned_days USING btree (day);

create table ledger_holds (
  id bigint generated always as identity,
  account_id integer not null,
  amount_nanos bigint not null,
  state text default 'pending'::text not null,
  cause jsonb not null,
  created_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  scopes text[] default '{}'::text[] not null,
  constraint ledger_holds_pkey PRIMARY KEY (id),
  constraint ledger_holds_amount CHECK ((amount_nanos > 0)),
  constraint ledger_holds_closed CHECK (((state = 'pending'::text) = (closed_at IS NULL))),
  constraint ledger_holds_state CHECK ((state = ANY (ARRAY['pending'::text, 'released'::text, 'posted'::text])))
);
CREATE INDEX ledger_holds_closed_at ON public.ledger_holds USING btree (closed_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX ledger_holds_pending ON public.ledger_holds USING btree (account_id) WHERE (state = 'pending'::text);

create table ledger_transfers (
  id bigint generated by default as identity,
  key text not null,
  debit_account_id integer not null,
  credit_account_id integer not null,
  amount_nanos bigint not null,
  code text not null,
  cause jsonb not null,
  description text not null,
  created_at timestamp with time zone not null,
  granted_nanos bigint default 0 not null,
  constraint ledger_transfers_pkey PRIMARY KEY (id),
  constraint ledger_transfers_amount CHECK ((amount_nanos > 0)),
  constraint ledger_transfers_code CHECK ((code = ANY (ARRAY['credit_granted'::text, 'credit_transfer'::text, 'usage_gpu'::text, 'usage_storage'::text, 'usage_bandwidth_up'::text, 'usage_bandwidth_down'::text, 'prepay'::text, 'refund'::text, 'payout'::text, 'fee'::text, 'payment'::text, 'payment_returned'::text, 'host_credit'::text, 'payout_returned'::text, 'write_off'::text, 'grant_released'::text, 'storage_owed'::text, 'taken_back'::text, 'earnings_taken_back'::text, 'correction'::text]))),
  constraint ledger_transfers_granted CHECK (((granted_nanos >= 0) AND (granted_nanos <= amount_nanos))),
  constraint ledger_transfers_key_length CHECK (((length(key) >= 1) AND (length(key) <= 200))),
  constraint ledger_transfers_two_sides CHECK ((debit_account_id <> credit_account_id))
);
CREATE INDEX ledger_transfers_credit ON public.ledger_transfers USING btree (credit_account_id, created_at, id);
CREATE INDEX ledger_transfers_credit_movements ON public.ledger_transfers USING btree (credit_account_id, created_at, id) WHERE (code <> ALL (ARRAY['usage_gpu'::text, 'usage_storage'::text, 'usage_bandwidth_up'::text, 'usage_bandwidth_down'::text]));
CREATE INDEX ledger_transfers_debit_movements ON public.ledger_transfers USING btree (debit_account_id, created_at, id) WHERE (code <> ALL (ARRAY['usage_gpu'::text, 'usage_storage'::text, 'usage_bandwidth_up'::text, 'usage_bandwidth_down'::text]));
CREATE INDEX ledger_transfers_deposit_ends ON public.ledger_transfers USING btree (debit_account_id, created_at, id) WHERE ((code = 'usage_gpu'::text) AND (key ~~ 'deposit:%'::text));
CREATE UNIQUE INDEX ledger_transfers_key ON public.ledger_transfers USING btree (key);
CREATE INDEX ledger_transfers_movements_by_code ON public.ledger_transfers USING btree (code, created_at, id) WHERE (code <> ALL (ARRAY['usage_gpu'::text, 'usage_storage'::text, 'usage_bandwidth_up'::text, 'usage_bandwidth_down'::text]));

create table line_probes (
  machine_id integer not null,
  at timestamp with time zone not null,
  measured_from text not null,
  up_mbps double precision,
  down_mbps double precision,
  constraint line_probes_pkey PRIMARY KEY (machine_id, at),
  constraint line_probes_both CHECK (((up_mbps IS NULL) = (down_mbps IS NULL))),
  constraint line_probes_down_mbps_check CHECK ((down_mbps >= (0)::double precision)),
  constraint line_probes_up_mbps_check CHECK ((up_mbps >= (0)::double precision))
);
CREATE INDEX line_probes_measured ON public.line_probes USING btree (measured_from, at) WHERE (up_mbps IS NOT NULL);

create table live_changes (
  seq bigint generated always as identity,
  number bigint,
  user_id integer not null,
  kind text not null,
  object_id bigint not null,
  change text not null,
  facts jsonb not null,
  written_at timestamp with time zone default clock_timestamp() not null,
  constraint live_changes_change_check CHECK ((change = ANY (ARRAY['created'::text, 'changed'::text, 'deleted'::text]))),
  constraint live_changes_kind_check CHECK ((kind = ANY (ARRAY['instance'::text, 'machine'::text, 'volume'::text, 'endpoint'::text, 'worker'::text, 'notification'::text, 'queue'::text])))
);
CREATE UNIQUE INDEX live_changes_number ON public.live_changes USING btree (number) WHERE (number IS NOT NULL);
CREATE INDEX live_changes_of_user ON public.live_changes USING btree (user_id, number) WHERE (number IS NOT NULL);
CREATE INDEX live_changes_waiting ON public.live_changes USING btree (seq) WHERE (number IS NULL);

create table live_changes_clock (
  is_only boolean default true not null,
  last_number bigint default 0 not null,
  floor_number bigint default 0 not null,
  constraint live_changes_clock_pkey PRIMARY KEY (is_only),
  constraint live_changes_clock_check CHECK (((floor_number >= 0) AND (floor_number <= last_number))),
  constraint live_changes_clock_is_only_check CHECK (is_only)
);

create table machine_days (
  machine_id integer not null,
  day integer not null,
  online_ms bigint not null,
  offline_ms bigint not null,
  offline_rented_ms bigint not null,
  maintenance_ms bigint not null,
  constraint machine_days_pkey PRIMARY KEY (machine_id, day),
  constraint machine_days_check CHECK (((offline_rented_ms >= 0) AND (offline_rented_ms <= offline_ms))),
  constraint machine_days_day_check CHECK ((day >= 0)),
  constraint machine_days_maintenance_ms_check CHECK ((maintenance_ms >= 0)),
  constraint machine_days_offline_ms_check CHECK ((offline_ms >= 0)),
  constraint machine_days_online_ms_check CHECK ((online_ms >= 0))
);

create table machine_maintenances (
  id integer generated always as identity,
  machine_id integer not null,
  start_at timestamp with time zone not null,
  end_at timestamp with time zone not null,
  category text not null,
  reason text not null,
  created_at timestamp with time zone not null,
  cancelled_at timestamp with time zone,
  constraint machine_maintenances_pkey PRIMARY KEY (id),
  constraint machine_maintenances_category_check CHECK ((category = ANY (ARRAY['power'::text, 'internet'::text, 'disk'::text, 'gpu'::text, 'software'::text, 'other'::text, 'not provided'::text]))),
  constraint machine_maintenances_check CHECK ((end_at > start_at))
);
CREATE INDEX machine_maintenances_machine_id ON public.machine_maintenances USING btree (machine_id, end_at) WHERE (cancelled_at IS NULL);

create table machine_reports (
  id integer generated always as identity,
  machine_id integer not null,
  user_id integer not null,
  problem text not null,
  message text not null,
  created_at timestamp with time zone not null,
  constraint machine_reports_pkey PRIMARY KEY (id),
  constraint machine_reports_machine_id_user_id_problem_key UNIQUE (machine_id, user_id, problem),
  constraint machine_reports_message_check CHECK ((length(message) <= 2000)),
  constraint machine_reports_problem_check CHECK (((length(problem) >= 1) AND (length(problem) <= 100)))
);

create table machine_spans (
  machine_id integer not null,
  from_at timestamp with time zone not null,
  until_at timestamp with time zone,
  constraint machine_spans_pkey PRIMARY KEY (machine_id, from_at),
  constraint machine_spans_interval CHECK ((from_at <= until_at))
);
CREATE UNIQUE INDEX machine_spans_open ON public.machine_spans USING btree (machine_id) WHERE (until_at IS NULL);

create table machine_start_days (
  machine_id integer not null,
  day integer not null,
  succeeded_count integer not null,
  constraint machine_start_days_pkey PRIMARY KEY (machine_id, day),
  constraint machine_start_days_day_check CHECK ((day >= 0)),
  constraint machine_start_days_succeeded_count_check CHECK ((succeeded_count >= 0))
);

create table machine_traffic (
  machine_id integer not null,
  since_at timestamp with time zone not null,
  received_bytes bigint not null,
  sent_bytes bigint not null,
  constraint machine_traffic_pkey PRIMARY KEY (machine_id),
  constraint machine_traffic_received_bytes_check CHECK ((received_bytes >= 0)),
  constraint machine_traffic_sent_bytes_check CHECK ((sent_bytes >= 0))
);

create table machines (
  id integer generated always as identity,
  host_id integer not null,
  agent_credential_id integer not null,
  host_key text not null,
  boot_id text not null,
  agent_version text not null,
  engine_kind text not null,
  engine_version text not null,
  facts jsonb not null,
  resource_type text not null,
  verification text default 'unverified'::text not null,
  is_listed boolean not null,
  price_device_nanos_per_hour bigint not null,
  price_min_bid_nanos_per_hour bigint not null,
  price_disk_nanos_per_gb_month bigint not null,
  price_inet_up_nanos_per_gb bigint not null,
  price_inet_down_nanos_per_gb bigint not null,
  min_chunk integer not null,
  credit_discount_max_permille integer not null,
  offer_end_at timestamp with time zone not null,
  lease_until_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  is_connected boolean default false not null,
  session_number integer default 0 not null,
  created_at timestamp with time zone not null,
  proof_sha256 bytea,
  previous_proof_sha256 bytea,
  clone_noticed_at timestamp with time zone,
  hosting_type integer default 0 not null,
  offer_duration_s bigint,
  reliability_ppm integer default 600000 not null,
  rests_until_at timestamp with time zone,
  review_at timestamp with time zone,
  connected_at timestamp with time zone,
  deleted_at timestamp with time zone,
  is_verification_fixed boolean default false not null,
  first_start_succeeded_at timestamp with time zone,
  starts_fail_since_at timestamp with time zone,
  rest_count integer default 0 not null,
  told_away_since_at timestamp with time zone,
  told_listing_end_at timestamp with time zone,
  server_id integer,
  agent_address text,
  excused_until_at timestamp with time zone,
  proven_address text,
  address_calls_since_at timestamp with time zone,
  address_call_count integer default 0 not null,
  agent_update jsonb,
  constraint machines_pkey PRIMARY KEY (id),
  constraint machines_agent_credential_id_host_key_key UNIQUE (agent_credential_id, host_key),
  constraint machines_address_call_count_check CHECK ((address_call_count >= 0)),
  constraint machines_credit_discount_max_permille_check CHECK (((credit_discount_max_permille >= 0) AND (credit_discount_max_permille <= 1000))),
  constraint machines_deleted_unlisted CHECK (((deleted_at IS NULL) OR (NOT is_listed))),
  constraint machines_engine_kind_check CHECK ((engine_kind = ANY (ARRAY['docker'::text, 'simulated'::text]))),
  constraint machines_hosting_type_check CHECK ((hosting_type = ANY (ARRAY[0, 1]))),
  constraint machines_min_chunk_check CHECK ((min_chunk >= 1)),
  constraint machines_offer_duration_s_check CHECK ((offer_duration_s > 0)),
  constraint machines_price_device_nanos_per_hour_check CHECK ((price_device_nanos_per_hour >= 0)),
  constraint machines_price_disk_nanos_per_gb_month_check CHECK ((price_disk_nanos_per_gb_month >= 0)),
  constraint machines_price_inet_down_nanos_per_gb_check CHECK ((price_inet_down_nanos_per_gb >= 0)),
  constraint machines_price_inet_up_nanos_per_gb_check CHECK ((price_inet_up_nanos_per_gb >= 0)),
  constraint machines_price_min_bid_nanos_per_hour_check CHECK ((price_min_bid_nanos_per_hour >= 0)),
  constraint machines_reliability_ppm_check CHECK (((reliability_ppm >= 0) AND (reliability_ppm <= 1000000))),
  constraint machines_resource_type_check CHECK ((resource_type = ANY (ARRAY['gpu'::text, 'cpu'::text]))),
  constraint machines_rest_count_check CHECK ((rest_count >= 0)),
  constraint machines_verification_check CHECK ((verification = ANY (ARRAY['verified'::text, 'unverified'::text, 'deverified'::text])))
) with (fillfactor=75, autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX machines_away ON public.machines USING btree (id) WHERE (NOT is_connected);
CREATE INDEX machines_host_id ON public.machines USING btree (host_id);
CREATE INDEX machines_listed_until ON public.machines USING btree (offer_end_at) WHERE is_listed;
CREATE INDEX machines_resting ON public.machines USING btree (rests_until_at) WHERE (rests_until_at IS NOT NULL);
CREATE INDEX machines_review_at ON public.machines USING btree (review_at) WHERE (review_at IS NOT NULL);
CREATE INDEX machines_rolling ON public.machines USING btree (offer_end_at) WHERE (offer_duration_s IS NOT NULL);
CREATE INDEX machines_server ON public.machines USING btree (server_id) WHERE (server_id IS NOT NULL);
CREATE INDEX machines_told_away ON public.machines USING btree (id) WHERE (told_away_since_at IS NOT NULL);

create table market_rules (
  is_only boolean default true not null,
  notice_ms integer default 30000 not null,
  min_slice_ms integer default 60000 not null,
  constraint market_rules_pkey PRIMARY KEY (is_only),
  constraint market_rules_is_only_check CHECK (is_only),
  constraint market_rules_min_slice_ms_check CHECK (((min_slice_ms >= 0) AND (min_slice_ms <= 86400000))),
  constraint market_rules_notice_ms_check CHECK (((notice_ms >= 0) AND (notice_ms <= 3600000)))
);

create table measurement_blocks (
  subject_kind smallint not null,
  subject_id integer not null,
  step_s smallint not null,
  begins_at timestamp with time zone not null,
  content bytea not null,
  constraint measurement_blocks_pkey PRIMARY KEY (subject_kind, subject_id, step_s, begins_at),
  constraint measurement_blocks_step_s_check CHECK ((step_s = ANY (ARRAY[10, 60, 900]))),
  constraint measurement_blocks_subject_id_check CHECK ((subject_id > 0)),
  constraint measurement_blocks_subject_kind_check CHECK ((subject_kind = ANY (ARRAY[0, 1])))
) with (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX measurement_blocks_age ON public.measurement_blocks USING btree (step_s, begins_at);

create table measurement_samples (
  machine_id integer not null,
  taken_at timestamp with time zone not null,
  content bytea not null,
  constraint measurement_samples_pkey PRIMARY KEY (machine_id, taken_at),
  constraint measurement_samples_machine_id_check CHECK ((machine_id > 0))
) with (autovacuum_vacuum_scale_factor=0.05);

create table model_bid_floors (
  gpu_name text not null,
  device_count integer not null,
  at timestamp with time zone not null,
  floor_nanos bigint,
  constraint model_bid_floors_pkey PRIMARY KEY (gpu_name, device_count, at),
  constraint model_bid_floors_device_count_check CHECK ((device_count > 0))
);
CREATE INDEX model_bid_floors_by_time ON public.model_bid_floors USING btree (at);

create table network_disk_mounts (
  network_disk_id integer not null,
  machine_id integer not null,
  mount_path text not null,
  created_at timestamp with time zone not null,
  constraint network_disk_mounts_pkey PRIMARY KEY (network_disk_id, machine_id),
  constraint network_disk_mounts_mount_path_check CHECK ((mount_path ~~ '/%'::text))
);
CREATE INDEX network_disk_mounts_machine_id ON public.network_disk_mounts USING btree (machine_id);

create table network_disks (
  id integer generated always as identity,
  user_id integer not null,
  size_bytes bigint not null,
  created_at timestamp with time zone not null,
  constraint network_disks_pkey PRIMARY KEY (id),
  constraint network_disks_size_bytes_check CHECK ((size_bytes > 0))
);
CREATE INDEX network_disks_user_id ON public.network_disks USING btree (user_id);

create table network_volume_offers (
  id integer generated always as identity,
  network_disk_id integer not null,
  size_bytes bigint not null,
  price_nanos_per_gb_month bigint not null,
  credit_discount_max_permille integer not null,
  end_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  unlisted_at timestamp with time zone,
  is_replaced boolean default false not null,
  constraint network_volume_offers_pkey PRIMARY KEY (id),
  constraint network_volume_offers_credit_discount_max_permille_check CHECK (((credit_discount_max_permille >= 0) AND (credit_discount_max_permille <= 1000))),
  constraint network_volume_offers_price_nanos_per_gb_month_check CHECK ((price_nanos_per_gb_month >= 0)),
  constraint network_volume_offers_replaced_are_unlisted CHECK (((NOT is_replaced) OR (unlisted_at IS NOT NULL))),
  constraint network_volume_offers_size_bytes_check CHECK ((size_bytes > 0))
);
CREATE UNIQUE INDEX network_volume_offers_live ON public.network_volume_offers USING btree (network_disk_id) WHERE (unlisted_at IS NULL);

create table notice_deliveries (
  id bigint generated always as identity,
  notice_id bigint not null,
  user_id integer not null,
  channel text not null,
  webhook_id integer,
  state text default 'due'::text not null,
  attempt_count integer default 0 not null,
  due_at timestamp with time zone,
  outcome text default ''::text not null,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint notice_deliveries_pkey PRIMARY KEY (id),
  constraint notice_deliveries_once UNIQUE NULLS NOT DISTINCT (notice_id, channel, webhook_id),
  constraint notice_deliveries_attempts CHECK ((attempt_count >= 0)),
  constraint notice_deliveries_channel CHECK ((channel = ANY (ARRAY['email'::text, 'webhook'::text]))),
  constraint notice_deliveries_due CHECK ((((due_at IS NOT NULL) = (state = 'due'::text)) AND ((ended_at IS NULL) = (state = 'due'::text)))),
  constraint notice_deliveries_state CHECK ((state = ANY (ARRAY['due'::text, 'delivered'::text, 'failed'::text]))),
  constraint notice_deliveries_target CHECK (((webhook_id IS NOT NULL) = (channel = 'webhook'::text)))
);
CREATE INDEX notice_deliveries_due_at ON public.notice_deliveries USING btree (user_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX notice_deliveries_webhook_id ON public.notice_deliveries USING btree (webhook_id) WHERE (webhook_id IS NOT NULL);

create table notice_preferences (
  user_id integer not null,
  kind text not null,
  email boolean not null,
  webhooks boolean not null,
  constraint notice_preferences_pkey PRIMARY KEY (user_id, kind),
  constraint notice_preferences_kind CHECK ((kind ~ '^(client|host):[a-z0-9_]{1,60}$'::text))
);

create table notices (
  id bigint generated always as identity,
  user_id integer not null,
  kind text not null,
  subject text not null,
  message text not null,
  key text not null,
  created_at timestamp with time zone not null,
  read_at timestamp with time zone,
  planned_at timestamp with time zone,
  constraint notices_pkey PRIMARY KEY (id),
  constraint notices_key CHECK (((length(key) >= 1) AND (length(key) <= 200))),
  constraint notices_kind CHECK ((kind ~ '^(client|host):[a-z0-9_]{1,60}$'::text)),
  constraint notices_message CHECK (((length(message) >= 1) AND (length(message) <= 4000))),
  constraint notices_subject CHECK (((length(subject) >= 1) AND (length(subject) <= 200)))
);
CREATE INDEX notices_created_at ON public.notices USING btree (created_at);
CREATE UNIQUE INDEX notices_once ON public.notices USING btree (user_id, key);
CREATE INDEX notices_unplanned ON public.notices USING btree (id) WHERE (planned_at IS NULL);
CREATE INDEX notices_unread ON public.notices USING btree (user_id) WHERE (read_at IS NULL);
CREATE INDEX notices_user ON public.notices USING btree (user_id, id);

create table offers (
  id integer generated by default as identity,
  machine_id integer not null,
  device_count integer not null,
  created_at timestamp with time zone not null,
  retired_at timestamp with time zone,
  price_device_nanos_per_hour bigint,
  price_disk_nanos_per_gb_month bigint,
  price_inet_up_nanos_per_gb bigint,
  price_inet_down_nanos_per_gb bigint,
  credit_discount_max_permille integer,
  end_at timestamp with time zone,
  is_verified boolean,
  hosting_type integer,
  hardware text,
  is_replaced boolean default false not null,
  constraint offers_pkey PRIMARY KEY (id),
  constraint offers_device_count_check CHECK ((device_count >= 1)),
  constraint offers_replaced_are_retired CHECK (((NOT is_replaced) OR (retired_at IS NOT NULL)))
) with (autovacuum_vacuum_scale_factor=0.1, autovacuum_analyze_scale_factor=0.05);
CREATE UNIQUE INDEX offers_live ON public.offers USING btree (machine_id, device_count) WHERE (retired_at IS NULL);

create table passkey_challenges (
  challenge_sha256 bytea not null,
  browser_sha256 bytea not null,
  user_id integer,
  expires_at timestamp with time zone not null,
  constraint passkey_challenges_pkey PRIMARY KEY (challenge_sha256)
);
CREATE INDEX passkey_challenges_expires_at ON public.passkey_challenges USING btree (expires_at);

create table passkeys (
  id integer generated always as identity,
  user_id integer not null,
  credential_id bytea not null,
  public_key bytea not null,
  user_handle bytea not null,
  label text not null,
  transports text[] default '{}'::text[] not null,
  sign_count bigint not null,
  is_synced boolean not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  deleted_at timestamp with time zone,
  constraint passkeys_pkey PRIMARY KEY (id),
  constraint passkeys_credential_id_check CHECK (((octet_length(credential_id) >= 1) AND (octet_length(credential_id) <= 1023))),
  constraint passkeys_label_check CHECK (((length(label) >= 1) AND (length(label) <= 30))),
  constraint passkeys_sign_count_check CHECK ((sign_count >= 0))
);
CREATE UNIQUE INDEX passkeys_credential_id ON public.passkeys USING btree (credential_id) WHERE (deleted_at IS NULL);
CREATE INDEX passkeys_user_id ON public.passkeys USING btree (user_id) WHERE (deleted_at IS NULL);

create table past_terms (
  id bigint generated always as identity,
  instance_id integer not null,
  until_at timestamp with time zone not null,
  generation integer not null,
  until_running_ms bigint not null,
  until_received_bytes bigint not null,
  until_sent_bytes bigint not null,
  price_nanos_per_hour bigint not null,
  storage_nanos_per_gb_month bigint not null,
  inet_up_nanos_per_gb bigint not null,
  inet_down_nanos_per_gb bigint not null,
  discount_ppm integer not null,
  constraint past_terms_pkey PRIMARY KEY (id),
  constraint past_terms_discount_ppm_check CHECK (((discount_ppm >= 0) AND (discount_ppm < 1000000))),
  constraint past_terms_inet_down_nanos_per_gb_check CHECK ((inet_down_nanos_per_gb >= 0)),
  constraint past_terms_inet_up_nanos_per_gb_check CHECK ((inet_up_nanos_per_gb >= 0)),
  constraint past_terms_price_nanos_per_hour_check CHECK ((price_nanos_per_hour >= 0)),
  constraint past_terms_storage_nanos_per_gb_month_check CHECK ((storage_nanos_per_gb_month >= 0)),
  constraint past_terms_until_received_bytes_check CHECK ((until_received_bytes >= 0)),
  constraint past_terms_until_running_ms_check CHECK ((until_running_ms >= 0)),
  constraint past_terms_until_sent_bytes_check CHECK ((until_sent_bytes >= 0))
);
CREATE INDEX past_terms_instance ON public.past_terms USING btree (instance_id, id);

create table payment_accounts (
  user_id integer not null,
  customer_id text,
  autobill_cents bigint,
  autobill_attempt_count integer default 0 not null,
  autobill_failure_count integer default 0 not null,
  autobill_not_before_at timestamp with time zone,
  has_stale_cards boolean default false not null,
  created_at timestamp with time zone not null,
  constraint payment_accounts_pkey PRIMARY KEY (user_id),
  constraint payment_accounts_customer_id_key UNIQUE (customer_id),
  constraint payment_accounts_autobill_attempt_count_check CHECK ((autobill_attempt_count >= 0)),
  constraint payment_accounts_autobill_cents_check CHECK ((autobill_cents > 0)),
  constraint payment_accounts_autobill_failure_count_check CHECK ((autobill_failure_count >= 0)),
  constraint payment_accounts_customer_id_check CHECK (((length(customer_id) >= 1) AND (length(customer_id) <= 255)))
);
CREATE INDEX payment_accounts_stale ON public.payment_accounts USING btree (user_id) WHERE has_stale_cards;

create table payment_cards (
  id integer generated always as identity,
  user_id integer not null,
  method_id text not null,
  brand text not null,
  last4 text not null,
  expiry_month integer not null,
  expiry_year integer not null,
  is_default boolean default false not null,
  created_at timestamp with time zone not null,
  removed_at timestamp with time zone,
  detached_at timestamp with time zone,
  constraint payment_cards_pkey PRIMARY KEY (id),
  constraint payment_cards_method_id_key UNIQUE (method_id),
  constraint payment_cards_brand_check CHECK (((length(brand) >= 1) AND (length(brand) <= 50))),
  constraint payment_cards_detached CHECK (((detached_at IS NULL) OR (removed_at IS NOT NULL))),
  constraint payment_cards_expiry_month_check CHECK (((expiry_month >= 1) AND (expiry_month <= 12))),
  constraint payment_cards_expiry_year_check CHECK (((expiry_year >= 2000) AND (expiry_year <= 9999))),
  constraint payment_cards_last4_check CHECK ((last4 ~ '^[0-9]{4}$'::text)),
  constraint payment_cards_method_id_check CHECK (((length(method_id) >= 1) AND (length(method_id) <= 255))),
  constraint payment_cards_removed CHECK (((removed_at IS NULL) OR (NOT is_default)))
);
CREATE UNIQUE INDEX payment_cards_default ON public.payment_cards USING btree (user_id) WHERE is_default;
CREATE INDEX payment_cards_to_detach ON public.payment_cards USING btree (id) WHERE ((removed_at IS NOT NULL) AND (detached_at IS NULL));
CREATE INDEX payment_cards_user ON public.payment_cards USING btree (user_id, id) WHERE (removed_at IS NULL);

create table payment_events (
  event_id text not null,
  type text not null,
  received_at timestamp with time zone not null,
  constraint payment_events_pkey PRIMARY KEY (event_id),
  constraint payment_events_event_id_check CHECK (((length(event_id) >= 1) AND (length(event_id) <= 255)))
);

create table payment_refunds (
  id integer generated always as identity,
  payment_id integer not null,
  amount_cents bigint not null,
  state text default 'wanted'::text not null,
  first_asked_at timestamp with time zone,
  failure text,
  created_at timestamp with time zone not null,
  constraint payment_refunds_pkey PRIMARY KEY (id),
  constraint payment_refunds_amount_cents_check CHECK ((amount_cents > 0)),
  constraint payment_refunds_failure_check CHECK (((length(failure) >= 1) AND (length(failure) <= 500))),
  constraint payment_refunds_state_check CHECK ((state = ANY (ARRAY['wanted'::text, 'asked'::text, 'refused'::text])))
);
CREATE INDEX payment_refunds_payment ON public.payment_refunds USING btree (payment_id);
CREATE INDEX payment_refunds_wanted ON public.payment_refunds USING btree (id) WHERE (state = 'wanted'::text);

create table payment_returns (
  key text not null,
  intent_id text not null,
  returned_cents bigint not null,
  is_reversed boolean default false not null,
  taken_nanos bigint default 0 not null,
  lost_nanos bigint default 0 not null,
  booked_count integer default 0 not null,
  created_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  constraint payment_returns_pkey PRIMARY KEY (key),
  constraint payment_returns_booked_count_check CHECK ((booked_count >= 0)),
  constraint payment_returns_key_check CHECK (((length(key) >= 1) AND (length(key) <= 150))),
  constraint payment_returns_lost_nanos_check CHECK ((lost_nanos >= 0)),
  constraint payment_returns_returned_cents_check CHECK ((returned_cents >= 0)),
  constraint payment_returns_taken_nanos_check CHECK ((taken_nanos >= 0))
);
CREATE INDEX payment_returns_intent ON public.payment_returns USING btree (intent_id);

create table payment_rules (
  is_only boolean default true not null,
  fee_ppm integer default 0 not null,
  installation uuid default gen_random_uuid() not null,
  granted_after_days integer,
  card_hold_days integer default 14 not null,
  constraint payment_rules_pkey PRIMARY KEY (is_only),
  constraint payment_rules_card_hold_days_check CHECK (((card_hold_days >= 0) AND (card_hold_days <= 365))),
  constraint payment_rules_fee_ppm_check CHECK (((fee_ppm >= 0) AND (fee_ppm <= 500000))),
  constraint payment_rules_granted_after_days_check CHECK ((granted_after_days >= 0)),
  constraint payment_rules_is_only_check CHECK (is_only)
);

create table payment_takings (
  id integer generated always as identity,
  return_key text not null,
  account_kind text not null,
  user_id integer not null,
  amount_nanos bigint not null,
  taken_at timestamp with time zone not null,
  given_back_at timestamp with time zone,
  through integer[] default '{}'::integer[] not null,
  constraint payment_takings_pkey PRIMARY KEY (id),
  constraint payment_takings_account_kind_check CHECK (((account_kind = ANY (ARRAY['credit'::text, 'earnings'::text])) OR (account_kind ~ '^deposit:[0-9]+$'::text))),
  constraint payment_takings_amount_nanos_check CHECK ((amount_nanos > 0))
);
CREATE INDEX payment_takings_return_key ON public.payment_takings USING btree (return_key);

create table payments (
  id integer generated always as identity,
  user_id integer not null,
  kind text not null,
  state text default 'pending'::text not null,
  amount_cents bigint,
  saves_card boolean default false not null,
  attempt_number integer,
  card_id integer,
  request_key bytea,
  request_sha256 bytea,
  session_id text,
  url text,
  intent_id text,
  failure text,
  lease_until timestamp with time zone,
  created_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  constraint payments_pkey PRIMARY KEY (id),
  constraint payments_intent_id_key UNIQUE (intent_id),
  constraint payments_request_key_key UNIQUE (request_key),
  constraint payments_session_id_key UNIQUE (session_id),
  constraint payments_amount CHECK (((amount_cents IS NULL) = (kind = 'setup'::text))),
  constraint payments_amount_cents_check CHECK ((amount_cents > 0)),
  constraint payments_attempt CHECK (((attempt_number IS NOT NULL) = (kind = 'autobill'::text))),
  constraint payments_attempt_number_check CHECK ((attempt_number > 0)),
  constraint payments_card CHECK (((card_id IS NOT NULL) = (kind = 'autobill'::text))),
  constraint payments_failure_check CHECK (((length(failure) >= 1) AND (length(failure) <= 500))),
  constraint payments_kind_check CHECK ((kind = ANY (ARRAY['checkout'::text, 'setup'::text, 'autobill'::text]))),
  constraint payments_paid CHECK (((state <> 'paid'::text) OR (kind = 'setup'::text) OR (intent_id IS NOT NULL))),
  constraint payments_request CHECK (((request_key IS NULL) = (request_sha256 IS NULL))),
  constraint payments_settled CHECK (((settled_at IS NOT NULL) = (state <> 'pending'::text))),
  constraint payments_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'paid'::text, 'failed'::text, 'expired'::text, 'mismatched'::text])))
);
CREATE UNIQUE INDEX payments_attempts ON public.payments USING btree (user_id, attempt_number) WHERE (kind = 'autobill'::text);
CREATE UNIQUE INDEX payments_autobill_in_flight ON public.payments USING btree (user_id) WHERE ((kind = 'autobill'::text) AND (state = 'pending'::text));
CREATE INDEX payments_paid_at ON public.payments USING btree (settled_at) WHERE ((state = 'paid'::text) AND (amount_cents IS NOT NULL));
CREATE INDEX payments_user ON public.payments USING btree (user_id, id);

create table payout_bases (
  user_id integer not null,
  settled_nanos bigint not null,
  constraint payout_bases_pkey PRIMARY KEY (user_id)
);

create table payout_holds (
  id integer generated always as identity,
  user_id integer not null,
  kind text not null,
  reason text not null,
  placed_by integer,
  placed_at timestamp with time zone not null,
  released_by integer,
  released_at timestamp with time zone,
  release_reason text,
  constraint payout_holds_pkey PRIMARY KEY (id),
  constraint payout_holds_kind_check CHECK ((kind ~ '^[a-z][a-z_]{1,39}$'::text)),
  constraint payout_holds_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 500))),
  constraint payout_holds_release_reason_check CHECK (((length(release_reason) >= 1) AND (length(release_reason) <= 500))),
  constraint payout_holds_released CHECK ((((released_at IS NULL) = (release_reason IS NULL)) AND ((released_by IS NULL) OR (released_at IS NOT NULL))))
);
CREATE UNIQUE INDEX payout_holds_open ON public.payout_holds USING btree (user_id, kind) WHERE (released_at IS NULL);
CREATE INDEX payout_holds_user ON public.payout_holds USING btree (user_id, id);

create table payout_methods (
  user_id integer not null,
  method text not null,
  details_sealed text not null,
  shown text not null,
  updated_at timestamp with time zone not null,
  constraint payout_methods_pkey PRIMARY KEY (user_id),
  constraint payout_methods_method_check CHECK ((method = ANY (ARRAY['stripe'::text, 'wise'::text, 'paypal'::text, 'bank'::text]))),
  constraint payout_methods_shown_check CHECK (((length(shown) >= 1) AND (length(shown) <= 200)))
);

create table payout_runs (
  friday_at timestamp with time zone not null,
  after_user_id integer default 0 not null,
  completed_at timestamp with time zone,
  constraint payout_runs_pkey PRIMARY KEY (friday_at),
  constraint payout_runs_friday_at_check CHECK ((EXTRACT(isodow FROM (friday_at AT TIME ZONE 'UTC'::text)) = (5)::numeric))
);

create table payouts (
  id integer generated always as identity,
  user_id integer not null,
  invoiced_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  earned_nanos bigint not null,
  fee_ppm integer not null,
  fee_nanos bigint not null,
  amount_nanos bigint not null,
  state text default 'pending'::text not null,
  method text,
  destination text,
  reference text,
  failure text,
  attempt_count integer default 0 not null,
  lease_until timestamp with time zone,
  created_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  returned_nanos bigint default 0 not null,
  return_count integer default 0 not null,
  returned_at timestamp with time zone,
  constraint payouts_pkey PRIMARY KEY (id),
  constraint payouts_amount_nanos_check CHECK (((amount_nanos > 0) AND ((amount_nanos % (10000000)::bigint) = 0))),
  constraint payouts_attempt_count_check CHECK ((attempt_count >= 0)),
  constraint payouts_due CHECK ((due_at > invoiced_at)),
  constraint payouts_failure CHECK (((failure IS NOT NULL) = (state = 'failed'::text))),
  constraint payouts_failure_check CHECK (((length(failure) >= 1) AND (length(failure) <= 500))),
  constraint payouts_fee CHECK ((((fee_nanos)::numeric * (1000000)::numeric) <= ((GREATEST(earned_nanos, (0)::bigint))::numeric * (fee_ppm)::numeric))),
  constraint payouts_fee_nanos_check CHECK ((fee_nanos >= 0)),
  constraint payouts_fee_ppm_check CHECK (((fee_ppm >= 0) AND (fee_ppm <= 500000))),
  constraint payouts_method_check CHECK ((method = ANY (ARRAY['stripe'::text, 'wise'::text, 'paypal'::text, 'bank'::text]))),
  constraint payouts_reference CHECK (((state <> 'paid'::text) OR (reference IS NOT NULL))),
  constraint payouts_reference_check CHECK (((length(reference) >= 1) AND (length(reference) <= 200))),
  constraint payouts_return_count_check CHECK ((return_count >= 0)),
  constraint payouts_returned CHECK (((returned_nanos >= 0) AND (returned_nanos <= amount_nanos) AND ((returned_nanos = 0) = (returned_at IS NULL)) AND ((returned_nanos = 0) = (return_count = 0)))),
  constraint payouts_settled CHECK (((settled_at IS NOT NULL) = (state = ANY (ARRAY['paid'::text, 'failed'::text])))),
  constraint payouts_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'sending'::text, 'paid'::text, 'failed'::text])))
);
CREATE INDEX payouts_due ON public.payouts USING btree (due_at, id) WHERE (state = ANY (ARRAY['pending'::text, 'sending'::text]));
CREATE UNIQUE INDEX payouts_once ON public.payouts USING btree (user_id, invoiced_at);
CREATE INDEX payouts_user ON public.payouts USING btree (user_id, id);

create table pending_price_increases (
  id integer generated always as identity,
  instance_id integer not null,
  host_id integer not null,
  price_nanos_per_hour bigint not null,
  storage_nanos_per_gb_month bigint not null,
  inet_up_nanos_per_gb bigint not null,
  inet_down_nanos_per_gb bigint not null,
  end_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint pending_price_increases_pkey PRIMARY KEY (id),
  constraint pending_price_increases_instance_id_key UNIQUE (instance_id),
  constraint pending_price_increases_inet_down_nanos_per_gb_check CHECK ((inet_down_nanos_per_gb >= 0)),
  constraint pending_price_increases_inet_up_nanos_per_gb_check CHECK ((inet_up_nanos_per_gb >= 0)),
  constraint pending_price_increases_price_nanos_per_hour_check CHECK ((price_nanos_per_hour >= 0)),
  constraint pending_price_increases_storage_nanos_per_gb_month_check CHECK ((storage_nanos_per_gb_month >= 0))
);

create table presence_clock (
  is_only boolean default true not null,
  counted_until_at timestamp with time zone not null,
  constraint presence_clock_pkey PRIMARY KEY (is_only),
  constraint presence_clock_is_only_check CHECK (is_only)
);

create table price_changes (
  instance_id integer not null,
  starts_at timestamp with time zone not null,
  price_nanos_per_hour bigint not null,
  storage_nanos_per_gb_month bigint not null,
  inet_up_nanos_per_gb bigint not null,
  inet_down_nanos_per_gb bigint not null,
  accepted_at timestamp with time zone not null,
  applied_at timestamp with time zone,
  constraint price_changes_pkey PRIMARY KEY (instance_id, starts_at),
  constraint price_changes_inet_down_nanos_per_gb_check CHECK ((inet_down_nanos_per_gb >= 0)),
  constraint price_changes_inet_up_nanos_per_gb_check CHECK ((inet_up_nanos_per_gb >= 0)),
  constraint price_changes_price_nanos_per_hour_check CHECK ((price_nanos_per_hour >= 0)),
  constraint price_changes_storage_nanos_per_gb_month_check CHECK ((storage_nanos_per_gb_month >= 0))
);
CREATE INDEX price_changes_due ON public.price_changes USING btree (starts_at) WHERE (applied_at IS NULL);

create table price_rules (
  is_only boolean default true not null,
  traffic_nanos_per_gb_max bigint default 150000000 not null,
  storage_nanos_per_gb_month_max bigint default 1000000000 not null,
  traffic_base_nanos bigint default 2000000000 not null,
  traffic_share_permille integer default 4000 not null,
  constraint price_rules_pkey PRIMARY KEY (is_only),
  constraint price_rules_is_only_check CHECK (is_only),
  constraint price_rules_storage_nanos_per_gb_month_max_check CHECK ((storage_nanos_per_gb_month_max >= 0)),
  constraint price_rules_traffic_base_nanos_check CHECK ((traffic_base_nanos >= 0)),
  constraint price_rules_traffic_nanos_per_gb_max_check CHECK ((traffic_nanos_per_gb_max >= 0)),
  constraint price_rules_traffic_share_permille_check CHECK ((traffic_share_permille >= 0))
);

create table proxied_traffic (
  instance_id integer not null,
  generation integer not null,
  sent_bytes bigint not null,
  noted_bytes bigint not null,
  noted_at timestamp with time zone,
  constraint proxied_traffic_pkey PRIMARY KEY (instance_id, generation),
  constraint proxied_traffic_check CHECK (((noted_bytes > 0) AND (noted_bytes <= sent_bytes))),
  constraint proxied_traffic_sent_bytes_check CHECK ((sent_bytes > 0))
);

create table proxy_ports (
  port integer not null,
  instance_id integer,
  freed_at timestamp with time zone,
  place double precision default random() not null,
  constraint proxy_ports_pkey PRIMARY KEY (port),
  constraint proxy_ports_instance_id_key UNIQUE (instance_id),
  constraint proxy_ports_port_check CHECK (((port >= 1) AND (port <= 65534)))
);
CREATE INDEX proxy_ports_free ON public.proxy_ports USING btree (freed_at NULLS FIRST, place) WHERE (instance_id IS NULL);

create table reconciliation_clock (
  is_only boolean default true not null,
  last_run_at timestamp with time zone,
  last_counts jsonb default '{}'::jsonb not null,
  constraint reconciliation_clock_pkey PRIMARY KEY (is_only),
  constraint reconciliation_clock_is_only_check CHECK (is_only)
);

create table reconciliation_findings (
  id bigint generated always as identity,
  kind text not null,
  subject text not null,
  outcome text not null,
  actor text default 'rule'::text not null,
  details jsonb not null,
  first_found_at timestamp with time zone not null,
  last_found_at timestamp with time zone not null,
  found_count integer default 1 not null,
  constraint reconciliation_findings_pkey PRIMARY KEY (id),
  constraint reconciliation_findings_found_count_check CHECK ((found_count > 0)),
  constraint reconciliation_findings_kind CHECK ((kind ~ '^[a-z_]{1,60}$'::text)),
  constraint reconciliation_findings_outcome CHECK ((outcome = ANY (ARRAY['repaired'::text, 'told'::text, 'alarmed'::text]))),
  constraint reconciliation_findings_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 100)))
);
CREATE INDEX reconciliation_findings_last ON public.reconciliation_findings USING btree (last_found_at);
CREATE UNIQUE INDEX reconciliation_findings_subject ON public.reconciliation_findings USING btree (kind, subject);

create table request_limits (
  bucket bytea not null,
  empty_at timestamp with time zone not null,
  constraint request_limits_pkey PRIMARY KEY (bucket)
);

create table route_signing_keys (
  id boolean default true not null,
  sealed_private_key text not null,
  public_key_pem text not null,
  created_at timestamp with time zone not null,
  constraint route_signing_keys_pkey PRIMARY KEY (id),
  constraint route_signing_keys_id_check CHECK (id)
);

create table saved_searches (
  id integer generated always as identity,
  user_id integer not null,
  member_id integer default 0 not null,
  name text not null,
  query text not null,
  columns text[] default '{}'::text[] not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint saved_searches_pkey PRIMARY KEY (id),
  constraint saved_searches_user_id_member_id_name_key UNIQUE (user_id, member_id, name),
  constraint saved_searches_name_check CHECK ((name <> ''::text))
);

create table scheduled_jobs (
  id integer generated always as identity,
  user_id integer not null,
  api_key_id integer not null,
  instance_id integer,
  request_method text not null,
  api_endpoint text not null,
  request_body text not null,
  digest text not null,
  frequency text not null,
  day_of_the_week integer,
  hour_of_the_day integer,
  min_of_the_hour integer not null,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  due_at timestamp with time zone,
  stop_reason text,
  created_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  constraint scheduled_jobs_pkey PRIMARY KEY (id),
  constraint scheduled_jobs_api_endpoint_check CHECK ((api_endpoint ~~ '/%'::text)),
  constraint scheduled_jobs_check CHECK ((ends_at >= starts_at)),
  constraint scheduled_jobs_check1 CHECK (((due_at IS NULL) = (closed_at IS NOT NULL))),
  constraint scheduled_jobs_day_of_the_week_check CHECK (((day_of_the_week >= 0) AND (day_of_the_week <= 6))),
  constraint scheduled_jobs_frequency_check CHECK ((frequency = ANY (ARRAY['ONCE'::text, 'HOURLY'::text, 'DAILY'::text, 'WEEKLY'::text]))),
  constraint scheduled_jobs_hour_of_the_day_check CHECK (((hour_of_the_day >= 0) AND (hour_of_the_day <= 23))),
  constraint scheduled_jobs_min_of_the_hour_check CHECK (((min_of_the_hour >= 0) AND (min_of_the_hour <= 59))),
  constraint scheduled_jobs_request_method_check CHECK ((request_method = ANY (ARRAY['GET'::text, 'POST'::text, 'PUT'::text, 'DELETE'::text])))
);
CREATE INDEX scheduled_jobs_closed ON public.scheduled_jobs USING btree (closed_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX scheduled_jobs_due ON public.scheduled_jobs USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX scheduled_jobs_of_user ON public.scheduled_jobs USING btree (user_id, id);
CREATE UNIQUE INDEX scheduled_jobs_same ON public.scheduled_jobs USING btree (user_id, digest) WHERE (due_at IS NOT NULL);

create table scheduled_runs (
  id bigint generated always as identity,
  job_id integer not null,
  due_at timestamp with time zone not null,
  last_due_at timestamp with time zone not null,
  occurrence_count integer not null,
  api_key_id integer not null,
  outcome text not null,
  http_status integer,
  error text,
  message text,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint scheduled_runs_pkey PRIMARY KEY (id),
  constraint scheduled_runs_job_id_due_at_key UNIQUE (job_id, due_at),
  constraint scheduled_runs_check CHECK ((last_due_at >= due_at)),
  constraint scheduled_runs_occurrence_count_check CHECK ((occurrence_count > 0)),
  constraint scheduled_runs_outcome_check CHECK ((outcome = ANY (ARRAY['running'::text, 'done'::text, 'failed'::text, 'unknown'::text, 'missed'::text])))
);
CREATE INDEX scheduled_runs_ended ON public.scheduled_runs USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX scheduled_runs_running ON public.scheduled_runs USING btree (started_at) WHERE (outcome = 'running'::text);

create table schema_migrations (
  number integer not null,
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null,
  serves_from integer default 0 not null,
  constraint schema_migrations_pkey PRIMARY KEY (number)
);

create table served_certificates (
  name text not null,
  chain_pem text,
  encrypted_key text,
  issued_at timestamp with time zone,
  expires_at timestamp with time zone,
  order_at timestamp with time zone not null,
  failure_count integer default 0 not null,
  problem text,
  lease_token text,
  lease_until_at timestamp with time zone,
  constraint served_certificates_pkey PRIMARY KEY (name),
  constraint served_certificates_check CHECK ((num_nulls(chain_pem, encrypted_key, issued_at, expires_at) = ANY (ARRAY[0, 4]))),
  constraint served_certificates_check1 CHECK ((num_nulls(lease_token, lease_until_at) = ANY (ARRAY[0, 2]))),
  constraint served_certificates_failure_count_check CHECK ((failure_count >= 0)),
  constraint served_certificates_name_check CHECK (((name = lower(name)) AND (length(name) <= 253)))
);

create table servers (
  id integer generated always as identity,
  data_dir_key text not null,
  place text not null,
  address text,
  settings jsonb not null,
  started_at timestamp with time zone not null,
  beat_at timestamp with time zone not null,
  beat_count bigint default 0 not null,
  stopped_at timestamp with time zone,
  agent_addresses text[] default '{}'::text[] not null,
  schema_number integer default 0 not null,
  version text default ''::text not null,
  constraint servers_pkey PRIMARY KEY (id),
  constraint servers_data_dir_key_key UNIQUE (data_dir_key)
);

create table service_pauses (
  id integer generated always as identity,
  message text not null,
  started_at timestamp with time zone not null,
  started_by integer not null,
  until_at timestamp with time zone not null,
  announcement_id integer not null,
  ended_at timestamp with time zone,
  ended_by integer,
  constraint service_pauses_pkey PRIMARY KEY (id),
  constraint service_pauses_check CHECK ((until_at > started_at)),
  constraint service_pauses_check1 CHECK (((ended_at IS NULL) = (ended_by IS NULL)))
);
CREATE UNIQUE INDEX service_pauses_not_ended ON public.service_pauses USING btree ((true)) WHERE (ended_at IS NULL);

create table session_cookies (
  session_id integer not null,
  salt bytea,
  previous_salt bytea,
  renewed_at timestamp with time zone not null,
  confirmed_at timestamp with time zone,
  is_due boolean default false not null,
  constraint session_cookies_pkey PRIMARY KEY (session_id)
);

create table session_uses (
  session_id integer not null,
  ip_address text not null,
  browser text,
  system text,
  last_used_at timestamp with time zone not null,
  constraint session_uses_pkey PRIMARY KEY (session_id)
);

create table shipped_templates (
  key text not null,
  template_id integer not null,
  hash_id text not null,
  revision integer not null,
  constraint shipped_templates_pkey PRIMARY KEY (key),
  constraint shipped_templates_template_id_key UNIQUE (template_id),
  constraint shipped_templates_hash_id_check CHECK ((hash_id ~ '^[0-9a-f]{32}$'::text)),
  constraint shipped_templates_key_check CHECK (((length(key) >= 1) AND (length(key) <= 64))),
  constraint shipped_templates_revision_check CHECK ((revision > 0))
);

create table sign_in_attempts (
  bucket_sha256 bytea not null,
  attempt_count integer not null,
  window_ends_at timestamp with time zone not null,
  constraint sign_in_attempts_pkey PRIMARY KEY (bucket_sha256),
  constraint sign_in_attempts_attempt_count_check CHECK ((attempt_count > 0))
);
CREATE INDEX sign_in_attempts_window_ends_at ON public.sign_in_attempts USING btree (window_ends_at);

create table sign_in_tokens (
  id integer generated always as identity,
  purpose text not null,
  token_sha256 bytea not null,
  user_id integer,
  email text,
  created_by_id integer,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint sign_in_tokens_pkey PRIMARY KEY (id),
  constraint sign_in_tokens_purpose_check CHECK ((purpose = ANY (ARRAY['link'::text, 'invitation'::text, 'reset'::text]))),
  constraint sign_in_tokens_user CHECK (((purpose = 'invitation'::text) OR (user_id IS NOT NULL)))
);
CREATE UNIQUE INDEX sign_in_tokens_token_sha256 ON public.sign_in_tokens USING btree (token_sha256);
CREATE INDEX sign_in_tokens_user_id ON public.sign_in_tokens USING btree (user_id) WHERE (user_id IS NOT NULL);

create table ssh_keys (
  id integer generated always as identity,
  user_id integer not null,
  public_key text not null,
  fingerprint text not null,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint ssh_keys_pkey PRIMARY KEY (id),
  constraint ssh_keys_public_key_check CHECK (((length(public_key) >= 1) AND (length(public_key) <= 16384) AND (public_key !~ '[\r\n]'::text)))
);
CREATE UNIQUE INDEX ssh_keys_fingerprint ON public.ssh_keys USING btree (user_id, fingerprint) WHERE (deleted_at IS NULL);

create table sso_attempts (
  state_sha256 bytea not null,
  redirect_uri text not null,
  expires_at timestamp with time zone not null,
  constraint sso_attempts_pkey PRIMARY KEY (state_sha256)
);
CREATE INDEX sso_attempts_expires_at ON public.sso_attempts USING btree (expires_at);

create table sso_grants (
  id integer generated always as identity,
  user_id integer not null,
  team_id integer,
  created_at timestamp with time zone not null,
  constraint sso_grants_pkey PRIMARY KEY (id),
  constraint sso_grants_user_id_team_id_key UNIQUE NULLS NOT DISTINCT (user_id, team_id)
);

create table sso_identities (
  id integer generated always as identity,
  user_id integer not null,
  issuer text not null,
  subject text not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone not null,
  constraint sso_identities_pkey PRIMARY KEY (id),
  constraint sso_identities_issuer_subject_key UNIQUE (issuer, subject),
  constraint sso_identities_user_id_issuer_key UNIQUE (user_id, issuer),
  constraint sso_identities_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 255)))
);

create table standing_requests (
  id integer generated by default as identity,
  user_id integer not null,
  query jsonb not null,
  total_max_nanos_per_hour bigint,
  bid_nanos_per_hour bigint,
  launch jsonb not null,
  template_hash_id text,
  volume_info jsonb,
  status text default 'open'::text not null,
  reason text default ''::text not null,
  attempted_at timestamp with time zone,
  instance_id integer,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  cap_scopes text[] default '{}'::text[] not null,
  constraint standing_requests_pkey PRIMARY KEY (id),
  constraint standing_requests_bid_nanos_per_hour_check CHECK ((bid_nanos_per_hour > 0)),
  constraint standing_requests_check CHECK (((total_max_nanos_per_hour IS NOT NULL) OR (bid_nanos_per_hour IS NOT NULL))),
  constraint standing_requests_check1 CHECK (((status = 'claimed'::text) = (instance_id IS NOT NULL))),
  constraint standing_requests_check2 CHECK (((status = 'open'::text) = (closed_at IS NULL))),
  constraint standing_requests_status_check CHECK ((status = ANY (ARRAY['open'::text, 'claimed'::text, 'cancelled'::text, 'expired'::text, 'failed'::text]))),
  constraint standing_requests_total_max_nanos_per_hour_check CHECK ((total_max_nanos_per_hour > 0))
);
CREATE INDEX standing_requests_closed_at ON public.standing_requests USING btree (closed_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX standing_requests_expires_at ON public.standing_requests USING btree (expires_at) WHERE (status = 'open'::text);
CREATE UNIQUE INDEX standing_requests_instance_id ON public.standing_requests USING btree (instance_id) WHERE (instance_id IS NOT NULL);
CREATE INDEX standing_requests_open ON public.standing_requests USING btree (id) WHERE (status = 'open'::text);
CREATE INDEX standing_requests_user_id ON public.standing_requests USING btree (user_id, id);

create table team_invitations (
  id integer generated always as identity,
  team_id integer not null,
  role_id integer not null,
  email text not null,
  token_sha256 bytea not null,
  invited_by integer not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint team_invitations_pkey PRIMARY KEY (id),
  constraint team_invitations_check CHECK ((expires_at > created_at)),
  constraint team_invitations_email_check CHECK (((email = lower(email)) AND ((length(email) >= 3) AND (length(email) <= 64))))
);
CREATE UNIQUE INDEX team_invitations_email ON public.team_invitations USING btree (team_id, email);
CREATE UNIQUE INDEX team_invitations_token ON public.team_invitations USING btree (token_sha256);

create table team_members (
  team_id integer not null,
  member_id integer not null,
  role_id integer not null,
  joined_at timestamp with time zone not null,
  constraint team_members_pkey PRIMARY KEY (team_id, member_id),
  constraint team_members_person CHECK ((team_id <> member_id))
);
CREATE INDEX team_members_member_id ON public.team_members USING btree (member_id);

create table team_roles (
  id integer generated always as identity,
  team_id integer not null,
  name text not null,
  identifier text not null,
  permissions jsonb,
  created_at timestamp with time zone not null,
  constraint team_roles_pkey PRIMARY KEY (id),
  constraint team_roles_of_team UNIQUE (team_id, id),
  constraint team_roles_default CHECK (((permissions IS NULL) = (identifier = ANY (ARRAY['owner'::text, 'manager'::text, 'member'::text])))),
  constraint team_roles_identifier_form CHECK ((identifier ~ '^[a-z0-9_]{1,80}$'::text)),
  constraint team_roles_name_length CHECK (((length(name) >= 1) AND (length(name) <= 64)))
);
CREATE UNIQUE INDEX team_roles_identifier ON public.team_roles USING btree (team_id, identifier);
CREATE UNIQUE INDEX team_roles_name ON public.team_roles USING btree (team_id, lower(name));

create table teams (
  id integer not null,
  name text not null,
  founding_key_id integer not null,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  deleted_by integer,
  constraint teams_pkey PRIMARY KEY (id),
  constraint teams_deleted CHECK (((deleted_at IS NULL) = (deleted_by IS NULL))),
  constraint teams_name_length CHECK (((length(name) >= 1) AND (length(name) <= 64)))
);
CREATE INDEX teams_deleted_at ON public.teams USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE UNIQUE INDEX teams_name ON public.teams USING btree (lower(name)) WHERE (deleted_at IS NULL);

create table template_hash_keys (
  id integer not null,
  key bytea not null,
  constraint template_hash_keys_pkey PRIMARY KEY (id),
  constraint template_hash_keys_id_check CHECK ((id = 1)),
  constraint template_hash_keys_key_check CHECK ((length(key) >= 32))
);

create table template_versions (
  template_id integer not null,
  hash_id text not null,
  content jsonb not null,
  docker_login_pass text default ''::text not null,
  created_at timestamp with time zone not null,
  constraint template_versions_pkey PRIMARY KEY (template_id, hash_id),
  constraint template_versions_hash_id_check CHECK ((hash_id ~ '^[0-9a-f]{32}$'::text))
);
CREATE INDEX template_versions_clear_content ON public.template_versions USING btree (template_id) WHERE ((content ? 'env'::text) AND (content @> '{"private": true}'::jsonb));
CREATE INDEX template_versions_hash_id ON public.template_versions USING btree (hash_id);

create table templates (
  id integer generated always as identity,
  creator_id integer not null,
  hash_id text not null,
  content jsonb not null,
  docker_login_pass text default ''::text not null,
  is_private boolean generated always as (((content -> 'private'::text))::boolean) stored not null,
  is_recommended boolean default false not null,
  count_created integer default 0 not null,
  recent_create_at timestamp with time zone,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint templates_pkey PRIMARY KEY (id),
  constraint templates_count_created_check CHECK ((count_created >= 0)),
  constraint templates_hash_id_check CHECK ((hash_id ~ '^[0-9a-f]{32}$'::text))
);
CREATE INDEX templates_clear_content ON public.templates USING btree (id) WHERE ((content ? 'env'::text) AND (content @> '{"private": true}'::jsonb));
CREATE UNIQUE INDEX templates_creator_hash ON public.templates USING btree (creator_id, hash_id) WHERE (deleted_at IS NULL);
CREATE INDEX templates_public ON public.templates USING btree (id) WHERE ((deleted_at IS NULL) AND (NOT is_private));

create table tfa_authorizations (
  user_id integer not null,
  expires_at timestamp with time zone not null,
  constraint tfa_authorizations_pkey PRIMARY KEY (user_id)
);

create table tfa_backup_codes (
  id bigint generated always as identity,
  user_id integer not null,
  code_hmac bytea not null,
  created_at timestamp with time zone not null,
  used_at timestamp with time zone,
  deleted_at timestamp with time zone,
  constraint tfa_backup_codes_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX tfa_backup_codes_live ON public.tfa_backup_codes USING btree (user_id, code_hmac) WHERE ((used_at IS NULL) AND (deleted_at IS NULL));

create table tfa_challenges (
  id bigint generated always as identity,
  user_id integer not null,
  purpose text not null,
  secret_sha256 bytea not null,
  channel text,
  method_id integer,
  sealed_phone text,
  code_hmac bytea,
  code_sent_at timestamp with time zone,
  code_expires_at timestamp with time zone,
  team_id integer,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint tfa_challenges_pkey PRIMARY KEY (id),
  constraint tfa_challenges_secret_sha256_key UNIQUE (secret_sha256),
  constraint tfa_challenges_channel_check CHECK ((channel = ANY (ARRAY['totp'::text, 'sms'::text, 'email'::text]))),
  constraint tfa_challenges_purpose_check CHECK ((purpose = ANY (ARRAY['sign_in'::text, 'verify'::text, 'authorize'::text, 'phone'::text])))
);
CREATE INDEX tfa_challenges_expires_at ON public.tfa_challenges USING btree (expires_at);
CREATE INDEX tfa_challenges_user_id ON public.tfa_challenges USING btree (user_id);

create table tfa_locks (
  user_id integer not null,
  factor text not null,
  fail_count integer not null,
  lock_count integer default 0 not null,
  locked_until timestamp with time zone,
  constraint tfa_locks_pkey PRIMARY KEY (user_id, factor),
  constraint tfa_locks_fail_count_check CHECK ((fail_count >= 0))
);

create table tfa_methods (
  id integer generated always as identity,
  user_id integer not null,
  method text not null,
  label text default ''::text not null,
  sealed_secret text not null,
  is_primary boolean not null,
  last_step bigint,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  deleted_at timestamp with time zone,
  constraint tfa_methods_pkey PRIMARY KEY (id),
  constraint tfa_methods_label_check CHECK ((length(label) <= 30)),
  constraint tfa_methods_method_check CHECK ((method = ANY (ARRAY['totp'::text, 'sms'::text])))
);
CREATE UNIQUE INDEX tfa_methods_primary ON public.tfa_methods USING btree (user_id) WHERE (is_primary AND (deleted_at IS NULL));
CREATE INDEX tfa_methods_user_id ON public.tfa_methods USING btree (user_id) WHERE (deleted_at IS NULL);

create table tfa_sends (
  id bigint generated always as identity,
  user_id integer not null,
  target_hmac bytea not null,
  sent_at timestamp with time zone not null,
  constraint tfa_sends_pkey PRIMARY KEY (id)
);
CREATE INDEX tfa_sends_target ON public.tfa_sends USING btree (target_hmac, sent_at);
CREATE INDEX tfa_sends_user_id ON public.tfa_sends USING btree (user_id, sent_at);

create table tfa_setups (
  user_id integer not null,
  sealed_secret text not null,
  expires_at timestamp with time zone not null,
  constraint tfa_setups_pkey PRIMARY KEY (user_id)
);

create table user_templates (
  user_id integer not null,
  template_id integer not null,
  added_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint user_templates_pkey PRIMARY KEY (user_id, template_id),
  constraint user_templates_check CHECK (((added_at IS NOT NULL) OR (last_used_at IS NOT NULL)))
);

create table users (
  id integer generated always as identity,
  email text not null,
  username text not null,
  fullname text default ''::text not null,
  password_hash text,
  parent_id integer,
  is_admin boolean default false not null,
  is_host_only boolean default false not null,
  ssh_key text default ''::text not null,
  billaddress_line1 text default ''::text not null,
  billaddress_line2 text default ''::text not null,
  billaddress_city text default ''::text not null,
  billaddress_zip text default ''::text not null,
  billaddress_country text default ''::text not null,
  taxinfo text default ''::text not null,
  balance_threshold_nanos bigint default 0 not null,
  balance_threshold_enabled boolean default false not null,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  is_team boolean default false not null,
  traffic_limit_nanos bigint,
  email_proven_at timestamp with time zone,
  email_proven_by text,
  freeze_id integer,
  tfa_enabled_at timestamp with time zone,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_balance_threshold_nanos_check CHECK ((balance_threshold_nanos >= 0)),
  constraint users_email_check CHECK (((email = lower(email)) AND ((length(email) >= 3) AND (length(email) <= 64)))),
  constraint users_email_proven CHECK (((email_proven_at IS NULL) = (email_proven_by IS NULL))),
  constraint users_email_proven_by CHECK ((email_proven_by = ANY (ARRAY['mail'::text, 'operator'::text, 'server'::text, 'issuer'::text]))),
  constraint users_ssh_key_check CHECK ((length(ssh_key) <= 4096)),
  constraint users_traffic_limit_nanos_check CHECK ((traffic_limit_nanos >= 0)),
  constraint users_username_check CHECK (((length(username) >= 1) AND (length(username) <= 64)))
);
CREATE INDEX users_autobilled ON public.users USING btree (id) INCLUDE (balance_threshold_nanos) WHERE (balance_threshold_enabled AND (deleted_at IS NULL));
CREATE UNIQUE INDEX users_email ON public.users USING btree (email) WHERE ((deleted_at IS NULL) AND (email_proven_at IS NOT NULL));
CREATE INDEX users_email_claims ON public.users USING btree (email) WHERE (deleted_at IS NULL);
CREATE INDEX users_frozen ON public.users USING btree (freeze_id) WHERE (freeze_id IS NOT NULL);
CREATE INDEX users_old_password_hash ON public.users USING btree (id) WHERE (password_hash ~~ 'scrypt$%'::text);
CREATE INDEX users_parent_id ON public.users USING btree (parent_id);

create table volume_attachments (
  volume_id integer not null,
  instance_id integer not null,
  mount_path text not null,
  attached_at timestamp with time zone not null,
  constraint volume_attachments_pkey PRIMARY KEY (volume_id, instance_id),
  constraint volume_attachments_instance_id_mount_path_key UNIQUE (instance_id, mount_path),
  constraint volume_attachments_mount_path_check CHECK ((mount_path ~~ '/_%'::text))
);

create table volume_clones (
  volume_id integer not null,
  source_id integer not null,
  task_id text not null,
  expected_bytes bigint not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  failed_at timestamp with time zone,
  problem text default ''::text not null,
  constraint volume_clones_pkey PRIMARY KEY (volume_id),
  constraint volume_clones_task_id_key UNIQUE (task_id),
  constraint volume_clones_check CHECK (((problem = ''::text) OR (failed_at IS NOT NULL))),
  constraint volume_clones_expected_bytes_check CHECK ((expected_bytes >= 0))
);
CREATE INDEX volume_clones_source_id ON public.volume_clones USING btree (source_id);

create table volume_offers (
  id integer generated always as identity,
  machine_id integer not null,
  size_bytes bigint not null,
  price_nanos_per_gb_month bigint not null,
  end_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  unlisted_at timestamp with time zone,
  is_replaced boolean default false not null,
  constraint volume_offers_pkey PRIMARY KEY (id),
  constraint volume_offers_price_nanos_per_gb_month_check CHECK ((price_nanos_per_gb_month >= 0)),
  constraint volume_offers_replaced_are_unlisted CHECK (((NOT is_replaced) OR (unlisted_at IS NOT NULL))),
  constraint volume_offers_size_bytes_check CHECK ((size_bytes > 0))
);
CREATE UNIQUE INDEX volume_offers_live ON public.volume_offers USING btree (machine_id) WHERE (unlisted_at IS NULL);

create table volumes (
  id integer generated always as identity,
  user_id integer not null,
  machine_id integer,
  volume_offer_id integer,
  network_disk_id integer,
  network_volume_offer_id integer,
  name text not null,
  size_bytes bigint not null,
  price_nanos_per_gb_month bigint not null,
  end_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  deleting_at timestamp with time zone,
  used_bytes bigint default 0 not null,
  problem text default ''::text not null,
  metered_from_at timestamp with time zone,
  storage_charged_until_at timestamp with time zone,
  settle_at timestamp with time zone,
  cap_scopes text[] default '{}'::text[] not null,
  hold_id bigint,
  unsettled_since_at timestamp with time zone,
  constraint volumes_pkey PRIMARY KEY (id),
  constraint volumes_check CHECK (((machine_id IS NULL) = (volume_offer_id IS NULL))),
  constraint volumes_check1 CHECK (((network_disk_id IS NULL) = (network_volume_offer_id IS NULL))),
  constraint volumes_check2 CHECK (((machine_id IS NULL) <> (network_disk_id IS NULL))),
  constraint volumes_deleted_on_demand CHECK (((deleted_at IS NULL) OR (deleting_at IS NOT NULL))),
  constraint volumes_name_check CHECK ((name ~ '^([A-Za-z0-9_][A-Za-z0-9_-]{0,63})?$'::text)),
  constraint volumes_price_nanos_per_gb_month_check CHECK ((price_nanos_per_gb_month >= 0)),
  constraint volumes_size_bytes_check CHECK ((size_bytes > 0)),
  constraint volumes_used_bytes_check CHECK ((used_bytes >= 0))
);
CREATE INDEX volumes_end_at ON public.volumes USING btree (end_at) WHERE (deleting_at IS NULL);
CREATE INDEX volumes_hold ON public.volumes USING btree (hold_id) WHERE (hold_id IS NOT NULL);
CREATE INDEX volumes_machine_id ON public.volumes USING btree (machine_id) WHERE (deleted_at IS NULL);
CREATE INDEX volumes_network_disk_id ON public.volumes USING btree (network_disk_id) WHERE (deleted_at IS NULL);
CREATE INDEX volumes_settle_at ON public.volumes USING btree (settle_at) WHERE (settle_at IS NOT NULL);
CREATE INDEX volumes_unsettled ON public.volumes USING btree (user_id) WHERE (settle_at IS NOT NULL);
CREATE INDEX volumes_user_id ON public.volumes USING btree (user_id) WHERE (deleted_at IS NULL);

create table webhooks (
  id integer generated by default as identity,
  user_id integer not null,
  name text,
  url text not null,
  sealed_secret text not null,
  event_types text[] not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint webhooks_pkey PRIMARY KEY (id),
  constraint webhooks_event_types CHECK ((cardinality(event_types) > 0)),
  constraint webhooks_name CHECK ((length(name) <= 120)),
  constraint webhooks_url CHECK (((length(url) >= 1) AND (length(url) <= 2048)))
);
CREATE INDEX webhooks_user_id ON public.webhooks USING btree (user_id, id);

create table worker_group_avoidances (
  worker_group_id integer not null,
  machine_id integer not null,
  until_at timestamp with time zone not null,
  constraint worker_group_avoidances_pkey PRIMARY KEY (worker_group_id, machine_id)
);

create table worker_groups (
  id integer generated always as identity,
  endpoint_group_id integer not null,
  user_id integer not null,
  api_key_id integer not null,
  template_id integer,
  template_hash text not null,
  search_params text not null,
  search_query jsonb not null,
  launch_args text not null,
  sealed_login text default ''::text not null,
  gpu_ram_gb double precision not null,
  test_workers integer not null,
  cold_workers integer not null,
  max_workers integer not null,
  min_load double precision not null,
  min_cold_load double precision not null,
  target_util double precision not null,
  cold_mult double precision not null,
  generation integer default 1 not null,
  is_updating boolean default false not null,
  failure_count integer default 0 not null,
  resumes_at timestamp with time zone,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  max_nanos_per_hour bigint,
  is_max_by_owner boolean default false not null,
  waits_for_price_since_at timestamp with time zone,
  constraint worker_groups_pkey PRIMARY KEY (id),
  constraint worker_groups_cold_mult_check CHECK ((cold_mult > (0)::double precision)),
  constraint worker_groups_cold_workers_check CHECK ((cold_workers >= 0)),
  constraint worker_groups_failure_count_check CHECK ((failure_count >= 0)),
  constraint worker_groups_generation_check CHECK ((generation >= 1)),
  constraint worker_groups_gpu_ram_gb_check CHECK ((gpu_ram_gb >= (0)::double precision)),
  constraint worker_groups_max_nanos_per_hour_check CHECK ((max_nanos_per_hour > 0)),
  constraint worker_groups_max_workers_check CHECK ((max_workers >= 0)),
  constraint worker_groups_min_cold_load_check CHECK ((min_cold_load >= (0)::double precision)),
  constraint worker_groups_min_load_check CHECK ((min_load >= (0)::double precision)),
  constraint worker_groups_target_util_check CHECK (((target_util > (0)::double precision) AND (target_util <= (1)::double precision))),
  constraint worker_groups_test_workers_check CHECK ((test_workers >= 0))
);
CREATE INDEX worker_groups_endpoint_group_id ON public.worker_groups USING btree (endpoint_group_id);
CREATE INDEX worker_groups_user_id ON public.worker_groups USING btree (user_id) WHERE (deleted_at IS NULL);

alter table account_documents add constraint account_documents_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table account_freezes add constraint account_freezes_frozen_by_fkey FOREIGN KEY (frozen_by) REFERENCES users(id);
alter table account_freezes add constraint account_freezes_lifted_by_fkey FOREIGN KEY (lifted_by) REFERENCES users(id);
alter table account_freezes add constraint account_freezes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table account_secrets add constraint account_secrets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table account_views add constraint account_views_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES users(id);
alter table account_views add constraint account_views_session_id_fkey FOREIGN KEY (session_id) REFERENCES api_keys(id);
alter table account_views add constraint account_views_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table agent_credentials add constraint agent_credentials_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table agent_tasks add constraint agent_tasks_backup_id_fkey FOREIGN KEY (backup_id) REFERENCES instance_backups(id);
alter table agent_tasks add constraint agent_tasks_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table agent_tasks add constraint agent_tasks_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table agent_tasks add constraint agent_tasks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table announcements add constraint announcements_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);
alter table api_keys add constraint api_keys_member_id_fkey FOREIGN KEY (member_id) REFERENCES users(id);
alter table api_keys add constraint api_keys_opened_by_key_id_fkey FOREIGN KEY (opened_by_key_id) REFERENCES api_keys(id);
alter table api_keys add constraint api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table arrears add constraint arrears_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table audit_events add constraint audit_events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table benchmarks add constraint benchmarks_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table benchmarks add constraint benchmarks_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table benchmarks add constraint benchmarks_template_id_fkey FOREIGN KEY (template_id) REFERENCES templates(id);
alter table benchmarks add constraint benchmarks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table bid_floors add constraint bid_floors_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table cap_arrears add constraint cap_arrears_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table cloud_connections add constraint cloud_connections_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table credit_drops add constraint credit_drops_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table default_jobs add constraint default_jobs_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table deployment_file_pieces add constraint deployment_file_pieces_file_id_fkey FOREIGN KEY (file_id) REFERENCES deployment_files(id) ON DELETE CASCADE;
alter table deployment_files add constraint deployment_files_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE;
alter table deployment_versions add constraint deployment_versions_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON DELETE CASCADE;
alter table deployments add constraint deployments_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table deposits add constraint deposits_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table deposits add constraint deposits_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table device_events add constraint device_events_device_id_fkey FOREIGN KEY (device_id) REFERENCES devices(id);
alter table devices add constraint devices_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table email_proofs add constraint email_proofs_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table endpoint_events add constraint endpoint_events_endpoint_group_id_fkey FOREIGN KEY (endpoint_group_id) REFERENCES endpoint_groups(id) ON DELETE CASCADE;
alter table endpoint_groups add constraint endpoint_groups_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table endpoint_load add constraint endpoint_load_endpoint_group_id_fkey FOREIGN KEY (endpoint_group_id) REFERENCES endpoint_groups(id) ON DELETE CASCADE;
alter table endpoint_worker_names add constraint endpoint_worker_names_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table endpoint_workers add constraint endpoint_workers_endpoint_group_id_fkey FOREIGN KEY (endpoint_group_id) REFERENCES endpoint_groups(id);
alter table endpoint_workers add constraint endpoint_workers_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table endpoint_workers add constraint endpoint_workers_worker_group_id_fkey FOREIGN KEY (worker_group_id) REFERENCES worker_groups(id);
alter table failed_starts add constraint failed_starts_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table failed_starts add constraint failed_starts_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table failed_starts add constraint failed_starts_renter_id_fkey FOREIGN KEY (renter_id) REFERENCES users(id);
alter table gpu_bucket_samples add constraint gpu_bucket_samples_step_s_at_fkey FOREIGN KEY (step_s, at) REFERENCES gpu_sample_runs(step_s, at) ON DELETE CASCADE;
alter table gpu_samples add constraint gpu_samples_step_s_at_fkey FOREIGN KEY (step_s, at) REFERENCES gpu_sample_runs(step_s, at) ON DELETE CASCADE;
alter table host_faults add constraint host_faults_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table host_flags add constraint host_flags_cleared_by_id_fkey FOREIGN KEY (cleared_by_id) REFERENCES users(id);
alter table host_flags add constraint host_flags_host_id_fkey FOREIGN KEY (host_id) REFERENCES users(id);
alter table host_flags add constraint host_flags_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table instance_backups add constraint instance_backups_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table instance_backups add constraint instance_backups_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table instance_events add constraint instance_events_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table instance_runs add constraint instance_runs_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table instance_ssh_keys add constraint instance_ssh_keys_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table instance_tabs add constraint instance_tabs_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table instances add constraint instances_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table instances add constraint instances_offer_id_fkey FOREIGN KEY (offer_id) REFERENCES offers(id);
alter table instances add constraint instances_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table invitation_mails add constraint invitation_mails_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id);
alter table invoice_documents add constraint invoice_documents_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table ip_accesses add constraint ip_accesses_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table join_tokens add constraint join_tokens_agent_credential_id_fkey FOREIGN KEY (agent_credential_id) REFERENCES agent_credentials(id);
alter table join_tokens add constraint join_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table leases add constraint leases_device_id_fkey FOREIGN KEY (device_id) REFERENCES devices(id);
alter table leases add constraint leases_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table leases add constraint leases_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table ledger_accounts add constraint ledger_accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table ledger_cap_changes add constraint ledger_cap_changes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table ledger_caps add constraint ledger_caps_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table ledger_earned_days add constraint ledger_earned_days_account_id_fkey FOREIGN KEY (account_id) REFERENCES ledger_accounts(id);
alter table ledger_holds add constraint ledger_holds_account_id_fkey FOREIGN KEY (account_id) REFERENCES ledger_accounts(id);
alter table line_probes add constraint line_probes_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table machine_days add constraint machine_days_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table machine_maintenances add constraint machine_maintenances_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table machine_reports add constraint machine_reports_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table machine_reports add constraint machine_reports_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table machine_spans add constraint machine_spans_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table machine_start_days add constraint machine_start_days_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table machine_traffic add constraint machine_traffic_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table machines add constraint machines_agent_credential_id_fkey FOREIGN KEY (agent_credential_id) REFERENCES agent_credentials(id);
alter table machines add constraint machines_host_id_fkey FOREIGN KEY (host_id) REFERENCES users(id);
alter table machines add constraint machines_server_id_fkey FOREIGN KEY (server_id) REFERENCES servers(id) ON DELETE SET NULL;
alter table network_disk_mounts add constraint network_disk_mounts_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table network_disk_mounts add constraint network_disk_mounts_network_disk_id_fkey FOREIGN KEY (network_disk_id) REFERENCES network_disks(id);
alter table network_disks add constraint network_disks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table network_volume_offers add constraint network_volume_offers_network_disk_id_fkey FOREIGN KEY (network_disk_id) REFERENCES network_disks(id);
alter table notice_deliveries add constraint notice_deliveries_notice_id_fkey FOREIGN KEY (notice_id) REFERENCES notices(id) ON DELETE CASCADE;
alter table notice_deliveries add constraint notice_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE;
alter table notice_preferences add constraint notice_preferences_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table notices add constraint notices_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table offers add constraint offers_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table passkey_challenges add constraint passkey_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table passkeys add constraint passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table past_terms add constraint past_terms_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table payment_accounts add constraint payment_accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table payment_cards add constraint payment_cards_user_id_fkey FOREIGN KEY (user_id) REFERENCES payment_accounts(user_id);
alter table payment_refunds add constraint payment_refunds_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id);
alter table payment_takings add constraint payment_takings_return_key_fkey FOREIGN KEY (return_key) REFERENCES payment_returns(key);
alter table payment_takings add constraint payment_takings_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table payments add constraint payments_card_id_fkey FOREIGN KEY (card_id) REFERENCES payment_cards(id);
alter table payments add constraint payments_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table payout_bases add constraint payout_bases_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table payout_holds add constraint payout_holds_placed_by_fkey FOREIGN KEY (placed_by) REFERENCES users(id);
alter table payout_holds add constraint payout_holds_released_by_fkey FOREIGN KEY (released_by) REFERENCES users(id);
alter table payout_holds add constraint payout_holds_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table payout_methods add constraint payout_methods_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table payouts add constraint payouts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table pending_price_increases add constraint pending_price_increases_host_id_fkey FOREIGN KEY (host_id) REFERENCES users(id);
alter table pending_price_increases add constraint pending_price_increases_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table price_changes add constraint price_changes_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table proxied_traffic add constraint proxied_traffic_instance_id_generation_fkey FOREIGN KEY (instance_id, generation) REFERENCES instance_runs(instance_id, generation) ON DELETE CASCADE;
alter table proxy_ports add constraint proxy_ports_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table saved_searches add constraint saved_searches_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table scheduled_jobs add constraint scheduled_jobs_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id);
alter table scheduled_jobs add constraint scheduled_jobs_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table scheduled_runs add constraint scheduled_runs_job_id_fkey FOREIGN KEY (job_id) REFERENCES scheduled_jobs(id) ON DELETE CASCADE;
alter table service_pauses add constraint service_pauses_ended_by_fkey FOREIGN KEY (ended_by) REFERENCES users(id);
alter table service_pauses add constraint service_pauses_started_by_fkey FOREIGN KEY (started_by) REFERENCES users(id);
alter table session_cookies add constraint session_cookies_session_id_fkey FOREIGN KEY (session_id) REFERENCES api_keys(id);
alter table session_uses add constraint session_uses_session_id_fkey FOREIGN KEY (session_id) REFERENCES api_keys(id);
alter table shipped_templates add constraint shipped_templates_template_id_fkey FOREIGN KEY (template_id) REFERENCES templates(id);
alter table sign_in_tokens add constraint sign_in_tokens_created_by_id_fkey FOREIGN KEY (created_by_id) REFERENCES users(id);
alter table sign_in_tokens add constraint sign_in_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table ssh_keys add constraint ssh_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table sso_grants add constraint sso_grants_team_id_fkey FOREIGN KEY (team_id) REFERENCES users(id);
alter table sso_grants add constraint sso_grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table sso_identities add constraint sso_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table standing_requests add constraint standing_requests_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table standing_requests add constraint standing_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table team_invitations add constraint team_invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id);
alter table team_invitations add constraint team_invitations_role_id_fkey FOREIGN KEY (role_id) REFERENCES team_roles(id);
alter table team_invitations add constraint team_invitations_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id);
alter table team_members add constraint team_members_member_id_fkey FOREIGN KEY (member_id) REFERENCES users(id);
alter table team_members add constraint team_members_role FOREIGN KEY (team_id, role_id) REFERENCES team_roles(team_id, id);
alter table team_members add constraint team_members_team_id_fkey FOREIGN KEY (team_id) REFERENCES users(id);
alter table team_roles add constraint team_roles_team_id_fkey FOREIGN KEY (team_id) REFERENCES users(id);
alter table teams add constraint teams_deleted_by_fkey FOREIGN KEY (deleted_by) REFERENCES users(id);
alter table teams add constraint teams_founding_key_id_fkey FOREIGN KEY (founding_key_id) REFERENCES api_keys(id);
alter table teams add constraint teams_id_fkey FOREIGN KEY (id) REFERENCES users(id);
alter table template_versions add constraint template_versions_template_id_fkey FOREIGN KEY (template_id) REFERENCES templates(id);
alter table templates add constraint templates_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES users(id);
alter table tfa_authorizations add constraint tfa_authorizations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table tfa_backup_codes add constraint tfa_backup_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table tfa_challenges add constraint tfa_challenges_method_id_fkey FOREIGN KEY (method_id) REFERENCES tfa_methods(id);
alter table tfa_challenges add constraint tfa_challenges_team_id_fkey FOREIGN KEY (team_id) REFERENCES users(id);
alter table tfa_challenges add constraint tfa_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table tfa_locks add constraint tfa_locks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table tfa_methods add constraint tfa_methods_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table tfa_sends add constraint tfa_sends_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table tfa_setups add constraint tfa_setups_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table user_templates add constraint user_templates_template_id_fkey FOREIGN KEY (template_id) REFERENCES templates(id);
alter table user_templates add constraint user_templates_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table users add constraint users_freeze_id_fkey FOREIGN KEY (freeze_id) REFERENCES account_freezes(id);
alter table users add constraint users_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES users(id);
alter table volume_attachments add constraint volume_attachments_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES instances(id);
alter table volume_attachments add constraint volume_attachments_volume_id_fkey FOREIGN KEY (volume_id) REFERENCES volumes(id);
alter table volume_clones add constraint volume_clones_source_id_fkey FOREIGN KEY (source_id) REFERENCES volumes(id);
alter table volume_clones add constraint volume_clones_volume_id_fkey FOREIGN KEY (volume_id) REFERENCES volumes(id);
alter table volume_offers add constraint volume_offers_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table volumes add constraint volumes_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES machines(id);
alter table volumes add constraint volumes_network_disk_id_fkey FOREIGN KEY (network_disk_id) REFERENCES network_disks(id);
alter table volumes add constraint volumes_network_volume_offer_id_fkey FOREIGN KEY (network_volume_offer_id) REFERENCES network_volume_offers(id);
alter table volumes add constraint volumes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table volumes add constraint volumes_volume_offer_id_fkey FOREIGN KEY (volume_offer_id) REFERENCES volume_offers(id);
alter table webhooks add constraint webhooks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table worker_group_avoidances add constraint worker_group_avoidances_worker_group_id_fkey FOREIGN KEY (worker_group_id) REFERENCES worker_groups(id) ON DELETE CASCADE;
alter table worker_groups add constraint worker_groups_endpoint_group_id_fkey FOREIGN KEY (endpoint_group_id) REFERENCES endpoint_groups(id) ON DELETE CASCADE;
alter table worker_groups add constraint worker_groups_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

create view disk_promises as
 SELECT instances.machine_id,
    instances.disk_bytes AS bytes
   FROM instances
  WHERE instances.ended_at IS NULL
UNION ALL
 SELECT volumes.machine_id,
    volumes.size_bytes AS bytes
   FROM volumes
  WHERE volumes.deleted_at IS NULL;

CREATE TRIGGER account_documents_append_only BEFORE DELETE OR UPDATE ON public.account_documents FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER account_documents_no_truncate BEFORE TRUNCATE ON public.account_documents FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER account_freezes_change BEFORE DELETE OR UPDATE ON public.account_freezes FOR EACH ROW EXECUTE FUNCTION account_freezes_change();
CREATE TRIGGER account_view_changed AFTER INSERT OR UPDATE OF left_at ON public.account_views FOR EACH ROW EXECUTE FUNCTION notify_account_view_changed();
CREATE TRIGGER api_keys_changed AFTER DELETE OR UPDATE ON public.api_keys FOR EACH ROW EXECUTE FUNCTION notify_api_keys_changed('key');
CREATE TRIGGER charge_lines_append_only BEFORE DELETE OR UPDATE ON public.charge_lines FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER charge_lines_no_truncate BEFORE TRUNCATE ON public.charge_lines FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER live_changed AFTER UPDATE ON public.devices FOR EACH ROW WHEN (((old.is_present IS DISTINCT FROM new.is_present) OR (old.is_healthy IS DISTINCT FROM new.is_healthy) OR (old.health_reason IS DISTINCT FROM new.health_reason))) EXECUTE FUNCTION live_device();
CREATE TRIGGER live_created AFTER INSERT ON public.devices REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION live_machine_parts();
CREATE TRIGGER live_changed AFTER UPDATE ON public.endpoint_groups FOR EACH ROW WHEN (((old.name IS DISTINCT FROM new.name) OR (old.state IS DISTINCT FROM new.state) OR (old.min_load IS DISTINCT FROM new.min_load) OR (old.min_cold_load IS DISTINCT FROM new.min_cold_load) OR (old.target_util IS DISTINCT FROM new.target_util) OR (old.cold_mult IS DISTINCT FROM new.cold_mult) OR (old.cold_workers IS DISTINCT FROM new.cold_workers) OR (old.max_workers IS DISTINCT FROM new.max_workers) OR (old.max_queue_time_s IS DISTINCT FROM new.max_queue_time_s) OR (old.target_queue_time_s IS DISTINCT FROM new.target_queue_time_s) OR (old.inactivity_timeout_s IS DISTINCT FROM new.inactivity_timeout_s) OR (old.deleted_at IS DISTINCT FROM new.deleted_at))) EXECUTE FUNCTION live_endpoint();
CREATE TRIGGER live_created AFTER INSERT ON public.endpoint_groups FOR EACH ROW EXECUTE FUNCTION live_endpoint();
CREATE TRIGGER live_changed AFTER UPDATE ON public.endpoint_workers FOR EACH ROW WHEN (((old.state IS DISTINCT FROM new.state) OR (old.worker_group_id IS DISTINCT FROM new.worker_group_id) OR (old.generation IS DISTINCT FROM new.generation) OR (old.ready_at IS DISTINCT FROM new.ready_at) OR (old.draining_at IS DISTINCT FROM new.draining_at) OR (old.failure IS DISTINCT FROM new.failure) OR (old.removal_failure IS DISTINCT FROM new.removal_failure))) EXECUTE FUNCTION live_worker();
CREATE TRIGGER live_created AFTER INSERT OR DELETE ON public.endpoint_workers FOR EACH ROW EXECUTE FUNCTION live_worker();
CREATE TRIGGER fact_links_append_only BEFORE DELETE OR UPDATE ON public.fact_links FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER fact_links_no_truncate BEFORE TRUNCATE ON public.fact_links FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER facts_append_only BEFORE DELETE OR UPDATE ON public.facts FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER facts_no_truncate BEFORE TRUNCATE ON public.facts FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER live_changed AFTER UPDATE ON public.instances FOR EACH ROW WHEN (((old.label IS DISTINCT FROM new.label) OR (old.phase IS DISTINCT FROM new.phase) OR (old.desired IS DISTINCT FROM new.desired) OR (old.generation IS DISTINCT FROM new.generation) OR (old.observed_generation IS DISTINCT FROM new.observed_generation) OR (old.observed_state IS DISTINCT FROM new.observed_state) OR (old.observed_status_msg IS DISTINCT FROM new.observed_status_msg) OR (old.observed_ports IS DISTINCT FROM new.observed_ports) OR (old.device_problem IS DISTINCT FROM new.device_problem) OR (old.device_count IS DISTINCT FROM new.device_count) OR (old.disk_bytes IS DISTINCT FROM new.disk_bytes) OR (old.price_nanos_per_hour IS DISTINCT FROM new.price_nanos_per_hour) OR (old.is_bid IS DISTINCT FROM new.is_bid) OR (old.end_at IS DISTINCT FROM new.end_at) OR (old.ended_at IS DISTINCT FROM new.ended_at) OR (old.displaced_at IS DISTINCT FROM new.displaced_at))) EXECUTE FUNCTION live_instance();
CREATE TRIGGER live_created AFTER INSERT ON public.instances FOR EACH ROW EXECUTE FUNCTION live_instance();
CREATE TRIGGER invoice_documents_append_only BEFORE DELETE OR UPDATE ON public.invoice_documents FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER invoice_documents_no_truncate BEFORE TRUNCATE ON public.invoice_documents FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER live_changed AFTER UPDATE ON public.leases REFERENCING OLD TABLE AS before NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION live_released_leases();
CREATE TRIGGER live_created AFTER INSERT ON public.leases REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION live_machine_parts();
CREATE TRIGGER ledger_accounts_keep BEFORE DELETE ON public.ledger_accounts FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_cap_changes_append_only BEFORE DELETE OR UPDATE ON public.ledger_cap_changes FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_cap_changes_no_truncate BEFORE TRUNCATE ON public.ledger_cap_changes FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_holds_close_once BEFORE UPDATE ON public.ledger_holds FOR EACH ROW WHEN (((old.state <> 'pending'::text) OR (new.account_id <> old.account_id) OR (new.amount_nanos <> old.amount_nanos) OR (new.cause <> old.cause) OR (new.created_at <> old.created_at) OR (new.scopes <> old.scopes))) EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_holds_keep BEFORE DELETE ON public.ledger_holds FOR EACH ROW WHEN ((old.state = 'pending'::text)) EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER billing_audit_transfers AFTER INSERT ON public.ledger_transfers REFERENCING NEW TABLE AS posted FOR EACH STATEMENT EXECUTE FUNCTION billing_audit_transfers();
CREATE TRIGGER ledger_transfers_append_only BEFORE DELETE OR UPDATE ON public.ledger_transfers FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_transfers_no_truncate BEFORE TRUNCATE ON public.ledger_transfers FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER live_changed AFTER UPDATE ON public.machine_maintenances REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION live_machine_parts();
CREATE TRIGGER live_created AFTER INSERT ON public.machine_maintenances REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION live_machine_parts();
CREATE TRIGGER live_changed AFTER UPDATE ON public.machines FOR EACH ROW WHEN (((old.is_connected IS DISTINCT FROM new.is_connected) OR (old.is_listed IS DISTINCT FROM new.is_listed) OR (old.verification IS DISTINCT FROM new.verification) OR (old.price_device_nanos_per_hour IS DISTINCT FROM new.price_device_nanos_per_hour) OR (old.price_min_bid_nanos_per_hour IS DISTINCT FROM new.price_min_bid_nanos_per_hour) OR (old.price_disk_nanos_per_gb_month IS DISTINCT FROM new.price_disk_nanos_per_gb_month) OR (old.price_inet_up_nanos_per_gb IS DISTINCT FROM new.price_inet_up_nanos_per_gb) OR (old.price_inet_down_nanos_per_gb IS DISTINCT FROM new.price_inet_down_nanos_per_gb) OR (old.min_chunk IS DISTINCT FROM new.min_chunk) OR (old.offer_end_at IS DISTINCT FROM new.offer_end_at) OR (old.rests_until_at IS DISTINCT FROM new.rests_until_at) OR (old.deleted_at IS DISTINCT FROM new.deleted_at))) EXECUTE FUNCTION live_machine();
CREATE TRIGGER live_created AFTER INSERT ON public.machines FOR EACH ROW EXECUTE FUNCTION live_machine();
CREATE TRIGGER live_changed AFTER UPDATE ON public.notices FOR EACH ROW WHEN ((old.read_at IS DISTINCT FROM new.read_at)) EXECUTE FUNCTION live_notification();
CREATE TRIGGER live_created AFTER INSERT ON public.notices FOR EACH ROW EXECUTE FUNCTION live_notification();
CREATE TRIGGER payout_holds_change BEFORE DELETE OR UPDATE ON public.payout_holds FOR EACH ROW EXECUTE FUNCTION payout_holds_change();
CREATE TRIGGER session_cookie_due AFTER INSERT OR UPDATE OF is_due ON public.session_cookies FOR EACH ROW WHEN (new.is_due) EXECUTE FUNCTION notify_session_cookie_due();
CREATE TRIGGER live_changed AFTER UPDATE ON public.standing_requests FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) OR (old.reason IS DISTINCT FROM new.reason) OR (old.instance_id IS DISTINCT FROM new.instance_id) OR (old.expires_at IS DISTINCT FROM new.expires_at) OR (old.closed_at IS DISTINCT FROM new.closed_at))) EXECUTE FUNCTION live_queue();
CREATE TRIGGER live_created AFTER INSERT ON public.standing_requests FOR EACH ROW EXECUTE FUNCTION live_queue();
CREATE TRIGGER team_rights_changed AFTER DELETE OR UPDATE ON public.team_members FOR EACH ROW EXECUTE FUNCTION notify_team_rights_changed();
CREATE TRIGGER team_rights_changed AFTER DELETE OR UPDATE ON public.team_roles FOR EACH ROW EXECUTE FUNCTION notify_team_rights_changed();
CREATE TRIGGER api_keys_changed AFTER DELETE OR UPDATE OF is_admin, deleted_at, freeze_id ON public.users FOR EACH ROW EXECUTE FUNCTION notify_api_keys_changed('user');
CREATE TRIGGER api_keys_changed_by_tfa AFTER UPDATE OF tfa_enabled_at ON public.users FOR EACH ROW EXECUTE FUNCTION notify_api_keys_changed('user');
CREATE TRIGGER member_changed AFTER UPDATE OF deleted_at, freeze_id ON public.users FOR EACH ROW EXECUTE FUNCTION notify_member_changed();
CREATE TRIGGER live_changed AFTER INSERT OR DELETE ON public.volume_attachments FOR EACH ROW EXECUTE FUNCTION live_volume_attachment();
CREATE TRIGGER live_changed AFTER UPDATE ON public.volumes FOR EACH ROW WHEN (((old.name IS DISTINCT FROM new.name) OR (old.size_bytes IS DISTINCT FROM new.size_bytes) OR (old.price_nanos_per_gb_month IS DISTINCT FROM new.price_nanos_per_gb_month) OR (old.end_at IS DISTINCT FROM new.end_at) OR (old.problem IS DISTINCT FROM new.problem) OR (old.deleting_at IS DISTINCT FROM new.deleting_at) OR (old.deleted_at IS DISTINCT FROM new.deleted_at))) EXECUTE FUNCTION live_volume();
CREATE TRIGGER live_created AFTER INSERT ON public.volumes FOR EACH ROW EXECUTE FUNCTION live_volume();
CREATE TRIGGER live_changed AFTER UPDATE ON public.worker_groups FOR EACH ROW WHEN (((old.template_hash IS DISTINCT FROM new.template_hash) OR (old.search_params IS DISTINCT FROM new.search_params) OR (old.launch_args IS DISTINCT FROM new.launch_args) OR (old.test_workers IS DISTINCT FROM new.test_workers) OR (old.cold_workers IS DISTINCT FROM new.cold_workers) OR (old.max_workers IS DISTINCT FROM new.max_workers) OR (old.generation IS DISTINCT FROM new.generation) OR (old.is_updating IS DISTINCT FROM new.is_updating) OR (old.resumes_at IS DISTINCT FROM new.resumes_at) OR (old.max_nanos_per_hour IS DISTINCT FROM new.max_nanos_per_hour) OR (old.waits_for_price_since_at IS DISTINCT FROM new.waits_for_price_since_at) OR (old.deleted_at IS DISTINCT FROM new.deleted_at))) EXECUTE FUNCTION live_worker_group();
CREATE TRIGGER live_created AFTER INSERT ON public.worker_groups FOR EACH ROW EXECUTE FUNCTION live_worker_group();
