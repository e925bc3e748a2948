-- GPUs that are listed, and neither rented nor rentable now. Samples before this had none counted.
alter table gpu_samples
  add column unavailable_count double precision not null default 0,
  add constraint gpu_samples_unavailable_count_check check (unavailable_count >= 0);
