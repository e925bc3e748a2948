-- Time up to the last count in which the line could have carried bytes that were not said to have passed. A heartbeat says
-- bytes that were sampled up to one heartbeat before it: another report shortly after it may hold bytes of that time.
alter table instance_runs add column spare_traffic_ms bigint not null default 0 check (spare_traffic_ms >= 0);
