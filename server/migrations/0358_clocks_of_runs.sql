-- Which server's clock noted the beginning of a run, and the last word that it does not run yet: clocks of servers differ.
alter table instance_runs add column started_by_clock integer, add column not_running_by_clock integer;
