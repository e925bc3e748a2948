-- Jobs that call an operation of their account at times that it chose, and the outcome of each of these times.
create table scheduled_jobs (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  -- The key that the job acts with: it may lose rights, or be deleted, at any time.
  api_key_id integer not null references api_keys (id),
  instance_id integer,
  request_method text not null check (request_method in ('GET', 'POST', 'PUT', 'DELETE')),
  api_endpoint text not null check (api_endpoint like '/%'),
  -- Encrypted: a body may hold passwords.
  request_body text not null,
  -- A keyed digest of the request and its times, which finds the same job again.
  digest text not null,
  frequency text not null check (frequency in ('ONCE', 'HOURLY', 'DAILY', 'WEEKLY')),
  day_of_the_week integer check (day_of_the_week between 0 and 6),
  hour_of_the_day integer check (hour_of_the_day between 0 and 23),
  min_of_the_hour integer not null check (min_of_the_hour between 0 and 59),
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  -- The first occurrence that no server has begun or given up; null when the job is over.
  due_at timestamptz,
  -- The reason why the server ended the job before its time.
  stop_reason text,
  created_at timestamptz not null,
  closed_at timestamptz,
  check (ends_at >= starts_at),
  check ((due_at is null) = (closed_at is not null))
);

create index scheduled_jobs_of_user on scheduled_jobs (user_id, id);
create unique index scheduled_jobs_same on scheduled_jobs (user_id, digest) where due_at is not null;
create index scheduled_jobs_due on scheduled_jobs (due_at) where due_at is not null;
create index scheduled_jobs_closed on scheduled_jobs (closed_at) where closed_at is not null;

create table scheduled_runs (
  id bigint generated always as identity primary key,
  job_id integer not null references scheduled_jobs (id) on delete cascade,
  due_at timestamptz not null,
  -- A row of missed occurrences stands for all of a stretch; a run stands for one.
  last_due_at timestamptz not null,
  occurrence_count integer not null check (occurrence_count > 0),
  api_key_id integer not null,
  outcome text not null check (outcome in ('running', 'done', 'failed', 'unknown', 'missed')),
  http_status integer,
  error text,
  message text,
  started_at timestamptz,
  ended_at timestamptz,
  check (last_due_at >= due_at),
  -- No occurrence is begun twice, even if the code has a fault.
  unique (job_id, due_at)
);

create index scheduled_runs_running on scheduled_runs (started_at) where outcome = 'running';
create index scheduled_runs_ended on scheduled_runs (ended_at) where ended_at is not null;
