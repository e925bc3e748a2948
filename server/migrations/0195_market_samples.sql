-- When the market was counted, and the spans made of several censuses. One row is the right to write its samples.
create table gpu_sample_runs (
  step_s integer not null check (step_s in (300, 3600, 86400)),
  at timestamptz not null,
  primary key (step_s, at)
);

-- What there was of each GPU: one census (300 s), or the mean of an hour or a day. Prices are per GPU and hour.
create table gpu_samples (
  step_s integer not null,
  at timestamptz not null,
  gpu_name text not null,
  verified text not null check (verified in ('yes', 'no', 'all')),
  hosting text not null check (hosting in ('secure_cloud', 'community', 'all')),
  rented_count double precision not null check (rented_count >= 0),
  available_count double precision not null check (available_count >= 0),
  dlperf double precision not null,
  tflops double precision not null,
  -- Of all GPUs: what is paid for the rented ones, and asked for the others.
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
  primary key (step_s, at, verified, hosting, gpu_name),
  foreign key (step_s, at) references gpu_sample_runs (step_s, at) on delete cascade
);
