// The rows of published operations that do not exist yet: reads are empty, and writes are refused with 501.
import type { Needs, Row } from "./row.ts";
import { plain } from "./row.ts";

const refused = (needs: Needs, path: string, body: unknown): Row => ({ ...plain(needs, path, body), answers: 501 });

export const unbuiltEndpoints = {
  "PUT /api/v0/search/clusters/": plain("misc", "/api/v0/search/clusters/", {}),
  "GET /api/v0/clusters/": plain("user_read", "/api/v0/clusters/"),
  "POST /api/v0/cluster/": refused("user_write", "/api/v0/cluster/", { subnet: "10.1.0.0/24", manager_id: 12 }),
  "PUT /api/v0/cluster/": refused("user_write", "/api/v0/cluster/", { cluster_id: 5, machine_ids: [13] }),
  "DELETE /api/v0/cluster/": refused("user_write", "/api/v0/cluster/", { cluster_id: 5 }),
  "DELETE /api/v0/cluster/remove_machine/": refused("user_write", "/api/v0/cluster/remove_machine/", {
    cluster_id: 5,
    machine_id: 13,
  }),
  "GET /api/v0/overlay/": plain("user_read", "/api/v0/overlay/"),
  "POST /api/v0/overlay/": refused("user_write", "/api/v0/overlay/", { cluster_id: 5, name: "training" }),
  "PUT /api/v0/overlay/": refused("user_write", "/api/v0/overlay/", { name: "training", instance_id: 77 }),
  "DELETE /api/v0/overlay/": refused("user_write", "/api/v0/overlay/", { overlay_id: 8 }),
} satisfies Readonly<Record<string, Row>>;
