-- Samples of GPUs by the number of GPUs in their machine. They have a table of their own: a server of the version before
-- reads and adds up all rows of gpu_samples while an upgrade goes on.
create table gpu_bucket_samples (
  step_s integer not null,
  at timestamptz not null,
  gpu_name text not null,
  verified text not null check (verified in ('yes', 'no', 'all')),
  hosting text not null check (hosting in ('secure_cloud', 'community', 'all')),
  bucket text not null check (bucket in ('1', '2', '4', '8', 'other')),
  rented_count double precision not null check (rented_count >= 0),
  available_count double precision not null check (available_count >= 0),
  unavailable_count double precision not null check (unavailable_count >= 0),
  dlperf double precision not null,
  tflops double precision not null,
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
  primary key (step_s, at, bucket, verified, hosting, gpu_name),
  foreign key (step_s, at) references gpu_sample_runs (step_s, at) on delete cascade
);
