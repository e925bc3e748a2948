-- Limits on spending, beside holds: what is spent in a period and what is held together never pass them by what we do.

-- A cap limits what its account pays within one scope: all of it, what one key rented, one endpoint group, one instance.
-- All who change a cap hold the lock of its account's credit: caps are locked after accounts, by id.
create table ledger_caps (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  scope text not null constraint ledger_caps_scope check (scope ~ '^(account|key|endpoint|instance):[1-9][0-9]{0,9}$'),
  period text not null constraint ledger_caps_period check (period in ('day', 'month', 'total')),
  limit_nanos bigint not null constraint ledger_caps_limit check (limit_nanos >= 0),
  -- What was charged in the period that began then. A period that is over is forgotten when the next charge comes.
  spent_nanos bigint not null constraint ledger_caps_spent check (spent_nanos >= 0),
  period_started_at timestamptz not null,
  -- What pending holds with this scope have set aside.
  held_nanos bigint not null constraint ledger_caps_held check (held_nanos >= 0),
  -- When something was stopped last because this cap was reached.
  reached_at timestamptz,
  created_at timestamptz not null
);

create unique index ledger_caps_scope_period on ledger_caps (user_id, scope, period);

-- When the period began in which a moment lies: days and months of UTC; `total` never ends.
create function ledger_period_start(period text, at timestamptz) returns timestamptz
language sql stable as $$
  select case period
    when 'day' then date_trunc('day', at, 'UTC')
    when 'month' then date_trunc('month', at, 'UTC')
    else timestamptz 'epoch'
  end
$$;

-- Whose limits a hold counts against, beside the balance of its account.
alter table ledger_holds add column scopes text[] not null default '{}';

update ledger_holds h set scopes = array['account:' || i.user_id, 'instance:' || i.id]
from instances i where i.hold_id = h.id and h.state = 'pending';

drop trigger ledger_holds_close_once on ledger_holds;
create trigger ledger_holds_close_once before update on ledger_holds
  for each row when (
    old.state <> 'pending' or new.account_id <> old.account_id or new.amount_nanos <> old.amount_nanos
    or new.cause <> old.cause or new.created_at <> old.created_at or new.scopes <> old.scopes
  ) execute function ledger_refuse_change();

drop function ledger_place_holds(integer[], integer[], bigint[], jsonb[], timestamptz);

-- Sets credit aside for each request in the order given, each seeing the effect of those before it. `owners` names the
-- position of the request's user among the distinct users, `scope_lists` holds the scopes of each request between blanks.
-- One row per request, in order; no hold id when it is short, with the cap that leaves least, if that is less than the
-- balance leaves. A floor below zero is for what is stored, and so is as much above zero: nothing else is begun before.
create function ledger_place_holds(
  users integer[], owners integer[], amounts bigint[], causes jsonb[], scope_lists text[], placed_at timestamptz
) returns table (
  hold_id bigint, shortfall_nanos bigint, available_nanos bigint, cap_id integer, cap_scope text, cap_period text
)
language plpgsql set plan_cache_mode = force_generic_plan as $$
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
$$;

-- Gives back what pending holds set aside, of their accounts and of the caps that they counted against, and marks them;
-- returns the ids that this call closed. Holds closed before are left as they are.
create or replace function ledger_close_holds(hold_ids bigint[], closed_state text, closed_at timestamptz)
returns setof bigint
language plpgsql set plan_cache_mode = force_generic_plan as $$
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
$$;

-- Who rents later counts against the limits of the key that wished for it.
alter table standing_requests add column cap_scopes text[] not null default '{}';

-- Whose limits a volume counts against, besides its account's.
alter table volumes add column cap_scopes text[] not null default '{}';
