-- A volume has credit set aside for what it costs until it is settled next, as an instance has.
alter table volumes add column hold_id bigint;
create index volumes_hold on volumes (hold_id) where hold_id is not null;

-- Storage that nobody pays is not advanced by the house: a balance of zero is the end of what is charged.
alter table arrears drop constraint arrears_floor_nanos_check;
alter table arrears add constraint arrears_floor_nanos_check check (floor_nanos <= 0);

-- What an account may store unpaid beyond the least time that everybody has.
create table arrears_rules (
  is_only boolean primary key default true check (is_only),
  limit_nanos bigint not null default 10000000000 check (limit_nanos >= 0)
);
insert into arrears_rules default values;
