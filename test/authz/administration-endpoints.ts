// The rows of operations by which administrators see and run the whole market.
import { plain, type Row } from "./row.ts";

export const administrationEndpoints = {
  "GET /api/v0/admin/users/": plain("admin", "/api/v0/admin/users/"),
  "GET /api/v0/admin/users/{id}/": {
    needs: "admin",
    call: ({ owner }) => ({ path: `/api/v0/admin/users/${owner.id}/` }),
  },
  "GET /api/v0/admin/machines/": plain("admin", "/api/v0/admin/machines/"),
  "GET /api/v0/admin/instances/": plain("admin", "/api/v0/admin/instances/"),
  "GET /api/v0/admin/search/": plain("admin", "/api/v0/admin/search/?q=a"),
} satisfies Readonly<Record<string, Row>>;
