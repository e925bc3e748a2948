-- Why a host is paid nothing for now. While one of these is open, no payout to the host is made and none is sent. A row is
-- placed once and released once, and never changed otherwise.
create table payout_holds (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  -- What placed it, such as `operator` or `flagged_host`: one of each kind is open at a time.
  kind text not null check (kind ~ '^[a-z][a-z_]{1,39}$'),
  -- What the host reads.
  reason text not null check (length(reason) between 1 and 500),
  -- The administrator; null when the server placed or released it by itself.
  placed_by integer references users (id),
  placed_at timestamptz not null,
  released_by integer references users (id),
  released_at timestamptz,
  release_reason text check (length(release_reason) between 1 and 500),
  constraint payout_holds_released check (
    (released_at is null) = (release_reason is null) and (released_by is null or released_at is not null)
  )
);

create unique index payout_holds_open on payout_holds (user_id, kind) where released_at is null;
create index payout_holds_user on payout_holds (user_id, id);

create function payout_holds_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.released_at is null and new.released_at is not null
    and (old.id, old.user_id, old.kind, old.reason, old.placed_by, old.placed_at)
      is not distinct from (new.id, new.user_id, new.kind, new.reason, new.placed_by, new.placed_at)
  then
    return new;
  end if;
  raise exception 'payout_holds: a hold is released once, and neither changed otherwise nor deleted';
end
$$;
create trigger payout_holds_change before update or delete on payout_holds
  for each row execute function payout_holds_change();
