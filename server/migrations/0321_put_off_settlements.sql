-- Since when something could not be settled that was put off, so that others need not wait behind it.
alter table instances add column unsettled_since_at timestamptz;
