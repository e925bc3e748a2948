-- Changes of the past hour and the accounts that see them, for followers of GET /api/v0/events/ (ADR 0055). Triggers
-- write them, so that no statement which changes a state can forget to.
create table live_changes (
  -- The order in which changes were written; per object it is the order of their commits.
  seq bigint generated always as identity,
  -- The order in which they are told, given when they are visible to everybody; null until then.
  number bigint,
  -- The account that may see it. No foreign key: the row is gone long before its account could matter.
  user_id integer not null,
  kind text not null check (kind in ('instance', 'machine', 'volume', 'endpoint', 'worker', 'notification', 'queue')),
  object_id bigint not null,
  change text not null check (change in ('created', 'changed', 'deleted')),
  facts jsonb not null,
  -- The database's own clock: only the deletion of old rows reads it, by the same clock.
  written_at timestamptz not null default clock_timestamp()
);

create index live_changes_waiting on live_changes (seq) where number is null;
create unique index live_changes_number on live_changes (number) where number is not null;
create index live_changes_of_user on live_changes (user_id, number) where number is not null;

-- The number that was given last, and the highest one whose row may have been deleted: a follower that has seen less than
-- this floor has missed something.
create table live_changes_clock (
  is_only boolean primary key default true check (is_only),
  last_number bigint not null default 0,
  floor_number bigint not null default 0,
  check (floor_number between 0 and last_number)
);
insert into live_changes_clock default values;

-- Numbers the changes that are visible and have no number yet. One caller at a time does it and commits before the next
-- one looks, so a reader that has read up to a number never meets a smaller one later. A caller that finds another at work
-- leaves the work to it.
create function number_live_changes() returns void language plpgsql as $$
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
$$;

create function live_instance() returns trigger language plpgsql as $$
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
$$;

create trigger live_created after insert on instances for each row execute function live_instance();
create trigger live_changed after update on instances for each row
  when (
    (old.label, old.phase, old.desired, old.generation, old.observed_generation, old.observed_state,
      old.observed_status_msg, old.observed_ports, old.device_problem, old.device_count, old.disk_bytes,
      old.price_nanos_per_hour, old.is_bid, old.end_at, old.ended_at, old.displaced_at)
    is distinct from
    (new.label, new.phase, new.desired, new.generation, new.observed_generation, new.observed_state,
      new.observed_status_msg, new.observed_ports, new.device_problem, new.device_count, new.disk_bytes,
      new.price_nanos_per_hour, new.is_bid, new.end_at, new.ended_at, new.displaced_at)
  )
  execute function live_instance();

create function live_volume() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.user_id, 'volume', new.id,
    case when tg_op = 'INSERT' then 'created' when new.deleted_at is not null then 'deleted' else 'changed' end,
    jsonb_build_object('name', new.name, 'machine_id', new.machine_id, 'is_deleting', new.deleting_at is not null)
  );
  return null;
end
$$;

create trigger live_created after insert on volumes for each row execute function live_volume();
create trigger live_changed after update on volumes for each row
  when (
    (old.name, old.size_bytes, old.price_nanos_per_gb_month, old.end_at, old.problem, old.deleting_at, old.deleted_at)
    is distinct from
    (new.name, new.size_bytes, new.price_nanos_per_gb_month, new.end_at, new.problem, new.deleting_at, new.deleted_at)
  )
  execute function live_volume();

create function live_volume_attachment() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select v.user_id, 'volume', v.id, 'changed',
    jsonb_build_object('name', v.name, 'machine_id', v.machine_id, 'is_deleting', v.deleting_at is not null)
  from volumes v where v.id = coalesce(new.volume_id, old.volume_id);
  return null;
end
$$;

create trigger live_changed after insert or delete on volume_attachments
  for each row execute function live_volume_attachment();

create function live_machine_facts(m machines) returns jsonb language sql as $$
  select jsonb_build_object(
    'is_connected', m.is_connected, 'is_listed', m.is_listed, 'verification', m.verification
  )
$$;

create function live_machine() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.host_id, 'machine', new.id,
    case when tg_op = 'INSERT' then 'created' when new.deleted_at is not null then 'deleted' else 'changed' end,
    live_machine_facts(new)
  );
  return null;
end
$$;

create trigger live_created after insert on machines for each row execute function live_machine();
create trigger live_changed after update on machines for each row
  when (
    (old.is_connected, old.is_listed, old.verification, old.price_device_nanos_per_hour,
      old.price_min_bid_nanos_per_hour, old.price_disk_nanos_per_gb_month, old.price_inet_up_nanos_per_gb,
      old.price_inet_down_nanos_per_gb, old.min_chunk, old.offer_end_at, old.rests_until_at, old.deleted_at)
    is distinct from
    (new.is_connected, new.is_listed, new.verification, new.price_device_nanos_per_hour,
      new.price_min_bid_nanos_per_hour, new.price_disk_nanos_per_gb_month, new.price_inet_up_nanos_per_gb,
      new.price_inet_down_nanos_per_gb, new.min_chunk, new.offer_end_at, new.rests_until_at, new.deleted_at)
  )
  execute function live_machine();

-- GPUs, and who rents them, change many rows at once and are one change of their machine each time.
create function live_machine_parts() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select m.host_id, 'machine', m.id, 'changed', live_machine_facts(m)
  from machines m where m.id in (select machine_id from changed) and m.deleted_at is null
  order by m.id;
  return null;
end
$$;

create trigger live_created after insert on devices referencing new table as changed
  for each statement execute function live_machine_parts();
create trigger live_created after insert on leases referencing new table as changed
  for each statement execute function live_machine_parts();
create trigger live_created after insert on machine_maintenances referencing new table as changed
  for each statement execute function live_machine_parts();
create trigger live_changed after update on machine_maintenances referencing new table as changed
  for each statement execute function live_machine_parts();

create function live_released_leases() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select m.host_id, 'machine', m.id, 'changed', live_machine_facts(m)
  from machines m
  where m.deleted_at is null and m.id in (
    select n.machine_id from now n join before b on b.id = n.id where b.released_at is distinct from n.released_at
  )
  order by m.id;
  return null;
end
$$;

create trigger live_changed after update on leases referencing old table as before new table as now
  for each statement execute function live_released_leases();

create function live_device() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select m.host_id, 'machine', m.id, 'changed', live_machine_facts(m)
  from machines m where m.id = new.machine_id and m.deleted_at is null;
  return null;
end
$$;

create trigger live_changed after update on devices for each row
  when ((old.is_present, old.is_healthy, old.health_reason) is distinct from (new.is_present, new.is_healthy, new.health_reason))
  execute function live_device();

create function live_endpoint() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.user_id, 'endpoint', new.id,
    case when tg_op = 'INSERT' then 'created' when new.deleted_at is not null then 'deleted' else 'changed' end,
    jsonb_build_object('name', new.name, 'state', new.state)
  );
  return null;
end
$$;

create trigger live_created after insert on endpoint_groups for each row execute function live_endpoint();
create trigger live_changed after update on endpoint_groups for each row
  when (
    (old.name, old.state, old.min_load, old.min_cold_load, old.target_util, old.cold_mult, old.cold_workers,
      old.max_workers, old.max_queue_time_s, old.target_queue_time_s, old.inactivity_timeout_s, old.deleted_at)
    is distinct from
    (new.name, new.state, new.min_load, new.min_cold_load, new.target_util, new.cold_mult, new.cold_workers,
      new.max_workers, new.max_queue_time_s, new.target_queue_time_s, new.inactivity_timeout_s, new.deleted_at)
  )
  execute function live_endpoint();

-- A worker group is a part of its endpoint.
create function live_worker_group() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select e.user_id, 'endpoint', e.id, 'changed', jsonb_build_object('name', e.name, 'state', e.state)
  from endpoint_groups e where e.id = new.endpoint_group_id and e.deleted_at is null;
  return null;
end
$$;

create trigger live_created after insert on worker_groups for each row execute function live_worker_group();
create trigger live_changed after update on worker_groups for each row
  when (
    (old.template_hash, old.search_params, old.launch_args, old.test_workers, old.cold_workers, old.max_workers,
      old.generation, old.is_updating, old.resumes_at, old.max_nanos_per_hour, old.waits_for_price_since_at,
      old.deleted_at)
    is distinct from
    (new.template_hash, new.search_params, new.launch_args, new.test_workers, new.cold_workers, new.max_workers,
      new.generation, new.is_updating, new.resumes_at, new.max_nanos_per_hour, new.waits_for_price_since_at,
      new.deleted_at)
  )
  execute function live_worker_group();

create function live_worker() returns trigger language plpgsql as $$
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
$$;

create trigger live_created after insert or delete on endpoint_workers
  for each row execute function live_worker();
create trigger live_changed after update on endpoint_workers for each row
  when (
    (old.state, old.worker_group_id, old.generation, old.ready_at, old.draining_at, old.failure, old.removal_failure)
    is distinct from
    (new.state, new.worker_group_id, new.generation, new.ready_at, new.draining_at, new.failure, new.removal_failure)
  )
  execute function live_worker();

create function live_notification() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.user_id, 'notification', new.id, case when tg_op = 'INSERT' then 'created' else 'changed' end,
    jsonb_build_object('type', new.kind, 'subject', left(new.subject, 200), 'is_read', new.read_at is not null)
  );
  return null;
end
$$;

create trigger live_created after insert on notices for each row execute function live_notification();
create trigger live_changed after update on notices for each row
  when (old.read_at is distinct from new.read_at)
  execute function live_notification();

create function live_queue() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.user_id, 'queue', new.id,
    case when tg_op = 'INSERT' then 'created' else 'changed' end,
    jsonb_build_object('status', new.status, 'instance_id', new.instance_id)
  );
  return null;
end
$$;

create trigger live_created after insert on standing_requests for each row execute function live_queue();
create trigger live_changed after update on standing_requests for each row
  when (
    (old.status, old.reason, old.instance_id, old.expires_at, old.closed_at)
    is distinct from
    (new.status, new.reason, new.instance_id, new.expires_at, new.closed_at)
  )
  execute function live_queue();
