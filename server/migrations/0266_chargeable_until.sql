-- Until when a run may cost its renter anything: a short grace after it was asked to stop or end, whatever its host says of
-- it later. Without such a request it is infinite. Runs from before this rule have none.
alter table instance_runs add column chargeable_until_at timestamptz;
alter table instance_runs alter column chargeable_until_at set default 'infinity';
