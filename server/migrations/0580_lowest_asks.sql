-- The lowest price asked for an available GPU. Samples before this have none; their 10th percentile stands in for it.
alter table gpu_samples add column available_min_nanos bigint;
alter table gpu_bucket_samples add column available_min_nanos bigint;
