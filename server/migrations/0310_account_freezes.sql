-- Freezes of accounts. While one is open, the account and its subaccounts begin nothing new and run nothing; their data is
-- kept. A row is placed once and lifted once, and never changed otherwise.
create table account_freezes (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  -- What the account's owner reads.
  reason text not null check (length(reason) between 1 and 500),
  frozen_by integer not null references users (id),
  frozen_at timestamptz not null,
  -- By which requests an administrator froze the account and lifted the freeze; empty where none is known.
  request_id text not null,
  lifted_by integer references users (id),
  lifted_at timestamptz,
  lift_reason text check (length(lift_reason) between 1 and 500),
  lift_request_id text,
  constraint account_freezes_lifted check (
    (lifted_at is null) = (lift_reason is null)
    and (lifted_at is null) = (lifted_by is null)
    and (lifted_at is null) = (lift_request_id is null)
  )
);

create unique index account_freezes_open on account_freezes (user_id) where lifted_at is null;

create function account_freezes_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.lifted_at is null and new.lifted_at is not null
    and (old.id, old.user_id, old.reason, old.frozen_by, old.frozen_at, old.request_id)
      is not distinct from (new.id, new.user_id, new.reason, new.frozen_by, new.frozen_at, new.request_id)
  then
    return new;
  end if;
  raise exception 'account_freezes: a freeze is lifted once, and neither changed otherwise nor deleted';
end
$$;
create trigger account_freezes_change before update or delete on account_freezes
  for each row execute function account_freezes_change();

-- The open freeze that holds for the account: its own, or its parent's.
alter table users add column freeze_id integer references account_freezes (id);

-- A server that remembers whom a key stands for asks again when its account, or a member of its team, is frozen.
drop trigger api_keys_changed on users;
create trigger api_keys_changed after update of is_admin, deleted_at, freeze_id or delete on users
  for each row execute function notify_api_keys_changed('user');
drop trigger member_changed on users;
create trigger member_changed after update of deleted_at, freeze_id on users
  for each row execute function notify_member_changed();
