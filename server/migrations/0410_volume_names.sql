-- Names of volumes may have hyphens, but not in front.
alter table volumes
  drop constraint volumes_name_check,
  add constraint volumes_name_check check (name ~ '^([A-Za-z0-9_][A-Za-z0-9_-]{0,63})?$');
