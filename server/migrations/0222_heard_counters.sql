-- What a host last said that a run had counted, as far as that can be. Only what comes beyond it can count: what was told of
-- a time in which nobody saw the machine does not come back in smaller pieces.
alter table instance_runs add column heard_running_ms bigint not null default 0;
alter table instance_runs add column heard_received_bytes bigint not null default 0;
alter table instance_runs add column heard_sent_bytes bigint not null default 0;
-- Time up to the last count in which it could have run and was not said to have: a report may be late by that.
alter table instance_runs add column spare_ms bigint not null default 0 check (spare_ms >= 0);
update instance_runs set
  heard_running_ms = running_ms, heard_received_bytes = received_bytes, heard_sent_bytes = sent_bytes;

-- What terms held up to where is in past_terms.
alter table instance_runs drop column lowest_price_nanos_per_hour, drop column price_changed_at,
  drop column highest_discount_ppm;
