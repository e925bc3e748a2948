-- Nothing asks when a run was first seen to run: `metered_from_at` says when its process began.
alter table instance_runs drop column first_running_at;
