-- Times in which accounts change nothing, announced to people. One that is over keeps its row.
create table service_pauses (
  id integer generated always as identity primary key,
  message text not null,
  -- May be later than the row.
  started_at timestamptz not null,
  started_by integer not null references users (id),
  until_at timestamptz not null check (until_at > started_at),
  announcement_id integer not null,
  -- Set when an administrator ended the pause before its time, or began another one.
  ended_at timestamptz,
  ended_by integer references users (id),
  check ((ended_at is null) = (ended_by is null))
);
create unique index service_pauses_not_ended on service_pauses ((true)) where ended_at is null;
