-- When a version last became the one that workers run. Unknown for versions that stopped running before; those that run
-- are taken as used since the last change of their deployment.
alter table deployment_versions add column last_used_at timestamptz;
update deployment_versions v set last_used_at = greatest(v.created_at, d.updated_at)
  from deployments d where d.current_version_id = v.id;
