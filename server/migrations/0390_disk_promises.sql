-- Disk space of machines that renters were promised. Rentals and volumes give it away until their last file is deleted;
-- hosts, which know neither, read here how much of a machine's disk is taken.
create view disk_promises as
  select machine_id, disk_bytes as bytes from instances where ended_at is null
  union all
  select machine_id, size_bytes as bytes from volumes where deleted_at is null;
