-- The tab of an instance is what charging knows of it: what is set aside, up to where it is charged, and when it is due to
-- be settled. It changes with each settlement, and is a narrow row of its own: the wide one with the facts of the rental
-- and its nine indexes stays as it is meanwhile.
create table instance_tabs (
  instance_id integer primary key references instances (id),
  -- The renter, as in instances, for the index below: an account's open tabs are asked for by each look at its balance.
  user_id integer not null,
  -- What a host runs on its own idle devices has a tab that is never settled.
  is_free boolean default false not null,
  -- What is set aside for it.
  hold_id bigint,
  -- From its first proven running on.
  metered_from_at timestamptz,
  storage_charged_until_at timestamptz,
  settle_at timestamptz,
  -- Since when it could not be settled and was put off, so that others need not wait behind it.
  unsettled_since_at timestamptz
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

insert into instance_tabs (
  instance_id, user_id, is_free, hold_id, metered_from_at, storage_charged_until_at, settle_at, unsettled_since_at
)
select id, user_id, is_background, hold_id, metered_from_at, storage_charged_until_at, settle_at, unsettled_since_at
from instances order by id;

-- Nothing is dropped that is not there.
do $$
begin
  if exists (
    select from instances i left join instance_tabs t on t.instance_id = i.id
    where (t.user_id, t.is_free, t.hold_id, t.metered_from_at, t.storage_charged_until_at, t.settle_at, t.unsettled_since_at)
      is distinct from
      (i.user_id, i.is_background, i.hold_id, i.metered_from_at, i.storage_charged_until_at, i.settle_at, i.unsettled_since_at)
  ) then
    raise exception 'an instance has another tab than it had columns';
  end if;
end
$$;

alter table instances
  drop column hold_id,
  drop column metered_from_at,
  drop column storage_charged_until_at,
  drop column settle_at,
  drop column unsettled_since_at;

create index instance_tabs_settle_at on instance_tabs (settle_at) where settle_at is not null;
create index instance_tabs_open on instance_tabs (user_id) where settle_at is not null;
