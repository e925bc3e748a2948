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
    old.label is distinct from new.label
    or old.phase is distinct from new.phase
    or old.desired is distinct from new.desired
    or old.generation is distinct from new.generation
    or old.observed_generation is distinct from new.observed_generation
    or old.observed_state is distinct from new.observed_state
    or old.observed_status_msg is distinct from new.observed_status_msg
    or old.observed_ports is distinct from new.observed_ports
    or old.device_problem is distinct from new.device_problem
    or old.device_count is distinct from new.device_count
    or old.disk_bytes is distinct from new.disk_bytes
    or old.price_nanos_per_hour is distinct from new.price_nanos_per_hour
    or old.is_bid is distinct from new.is_bid
    or old.end_at is distinct from new.end_at
    or old.ended_at is distinct from new.ended_at
    or old.displaced_at is distinct from new.displaced_at
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
    old.name is distinct from new.name
    or old.size_bytes is distinct from new.size_bytes
    or old.price_nanos_per_gb_month is distinct from new.price_nanos_per_gb_month
    or old.end_at is distinct from new.end_at
    or old.problem is distinct from new.problem
    or old.deleting_at is distinct from new.deleting_at
    or old.deleted_at is distinct from new.deleted_at
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

create function live_machine_facts(is_connected boolean, is_listed boolean, verification text)
returns jsonb language sql as $$
  select jsonb_build_object('is_connected', is_connected, 'is_listed', is_listed, 'verification', verification)
$$;

create function live_machine() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts) values (
    new.host_id, 'machine', new.id,
    case when tg_op = 'INSERT' then 'created' when new.deleted_at is not null then 'deleted' else 'changed' end,
    live_machine_facts(new.is_connected, new.is_listed, new.verification)
  );
  return null;
end
$$;

create trigger live_created after insert on machines for each row execute function live_machine();
create trigger live_changed after update on machines for each row
  when (
    old.is_connected is distinct from new.is_connected
    or old.is_listed is distinct from new.is_listed
    or old.verification is distinct from new.verification
    or old.price_device_nanos_per_hour is distinct from new.price_device_nanos_per_hour
    or old.price_min_bid_nanos_per_hour is distinct from new.price_min_bid_nanos_per_hour
    or old.price_disk_nanos_per_gb_month is distinct from new.price_disk_nanos_per_gb_month
    or old.price_inet_up_nanos_per_gb is distinct from new.price_inet_up_nanos_per_gb
    or old.price_inet_down_nanos_per_gb is distinct from new.price_inet_down_nanos_per_gb
    or old.min_chunk is distinct from new.min_chunk
    or old.offer_end_at is distinct from new.offer_end_at
    or old.rests_until_at is distinct from new.rests_until_at
    or old.deleted_at is distinct from new.deleted_at
  )
  execute function live_machine();

-- GPUs, and who rents them, change many rows at once and are one change of their machine each time.
create function live_machine_parts() returns trigger language plpgsql as $$
begin
  insert into live_changes (user_id, kind, object_id, change, facts)
  select m.host_id, 'machine', m.id, 'changed', live_machine_facts(m.is_connected, m.is_listed, m.verification)
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
  select m.host_id, 'machine', m.id, 'changed', live_machine_facts(m.is_connected, m.is_listed, m.verification)
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
  select m.host_id, 'machine', m.id, 'changed', live_machine_facts(m.is_connected, m.is_listed, m.verification)
  from machines m where m.id = new.machine_id and m.deleted_at is null;
  return null;
end
$$;

create trigger live_changed after update on devices for each row
  when (old.is_present is distinct from new.is_present
    or old.is_healthy is distinct from new.is_healthy
    or old.health_reason is distinct from new.health_reason)
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
    old.name is distinct from new.name
    or old.state is distinct from new.state
    or old.min_load is distinct from new.min_load
    or old.min_cold_load is distinct from new.min_cold_load
    or old.target_util is distinct from new.target_util
    or old.cold_mult is distinct from new.cold_mult
    or old.cold_workers is distinct from new.cold_workers
    or old.max_workers is distinct from new.max_workers
    or old.max_queue_time_s is distinct from new.max_queue_time_s
    or old.target_queue_time_s is distinct from new.target_queue_time_s
    or old.inactivity_timeout_s is distinct from new.inactivity_timeout_s
    or old.deleted_at is distinct from new.deleted_at
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
    old.template_hash is distinct from new.template_hash
    or old.search_params is distinct from new.search_params
    or old.launch_args is distinct from new.launch_args
    or old.test_workers is distinct from new.test_workers
    or old.cold_workers is distinct from new.cold_workers
    or old.max_workers is distinct from new.max_workers
    or old.generation is distinct from new.generation
    or old.is_updating is distinct from new.is_updating
    or old.resumes_at is distinct from new.resumes_at
    or old.max_nanos_per_hour is distinct from new.max_nanos_per_hour
    or old.waits_for_price_since_at is distinct from new.waits_for_price_since_at
    or old.deleted_at is distinct from new.deleted_at
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
    old.state is distinct from new.state
    or old.worker_group_id is distinct from new.worker_group_id
    or old.generation is distinct from new.generation
    or old.ready_at is distinct from new.ready_at
    or old.draining_at is distinct from new.draining_at
    or old.failure is distinct from new.failure
    or old.removal_failure is distinct from new.removal_failure
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
    old.status is distinct from new.status
    or old.reason is distinct from new.reason
    or old.instance_id is distinct from new.instance_id
    or old.expires_at is distinct from new.expires_at
    or old.closed_at is distinct from new.closed_at
  )
  execute function live_queue();
