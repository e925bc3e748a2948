/**
 * Operations that answer 403 where others answer as if the object did not exist, as published clients expect. A foreign
 * object and an absent one still look the same.
 */
export const FORBIDDEN_BY_CONTRACT: ReadonlySet<string> = new Set([
  "GET /api/v0/users/{user_id}/ipaddrs/ user_id",
  "GET /api/v0/users/{user_id}/invoices/ user_id",
  "GET /api/v0/users/{user_id}/notification-prefs/ user_id",
  "PUT /api/v0/users/{user_id}/notification-prefs/ user_id",
  "GET /api/v0/users/{user_id}/machine-earnings/ user_id",
  "GET /api/v0/users/{user_id}/templates/ user_id",
  "GET /api/v0/users/{user_id}/templates/autoscaler/ user_id",
  "GET /api/v0/users/{user_id}/templates/{hash_id}/ user_id",
  "POST /api/v0/users/{user_id}/templates/ user_id",
  "DELETE /api/v0/users/{user_id}/templates/ user_id",
  "POST /api/v0/users/{user_id}/template/ user_id",
  "PUT /api/v0/machines/create_asks/ id",
  "PUT /api/v0/machines/create_bids/ id",
  "PUT /api/v0/machines/{id}/minbid/ id",
  "POST /api/v0/users/ parent_id",
  "POST /api/v0/network_volume/ disk_id",
  "POST /api/v0/network_volumes/ disk_id",
  "POST /api/v0/network_disk/ disk_id",
]);
