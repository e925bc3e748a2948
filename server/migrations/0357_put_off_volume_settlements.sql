-- Since when a volume could not be settled and was put off, so that others need not wait behind it.
alter table volumes add column unsettled_since_at timestamptz;
