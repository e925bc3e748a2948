import type { OperationWords } from "../operation-words.ts";

/** Published operations of clusters and overlay networks, which do not exist yet. */
export const UNBUILT_OPERATIONS: OperationWords = {
  "api.cluster.search": {
    description: "Searches offers of clusters. The list is empty: there are no clusters yet.",
    request: { q: { num_gpus: { gte: 8 } } },
  },
  "api.cluster.list": { description: "Returns the caller's clusters. There are none yet, so the object is empty." },
  "api.cluster.create": { description: "Refuses every request with 501 `not_built`: there are no clusters yet." },
  "api.cluster.join": { description: "Refuses every request with 501 `not_built`: there are no clusters yet." },
  "api.cluster.delete": { description: "Refuses every request with 501 `not_built`: there are no clusters yet." },
  "api.cluster.remove_machine": {
    description: "Refuses every request with 501 `not_built`: there are no clusters yet.",
  },
  "api.overlay.list": {
    description: "Returns the caller's overlay networks. The list is empty: there are no overlay networks yet.",
  },
  "api.overlay.create": {
    description: "Refuses every request with 501 `not_built`: there are no overlay networks yet.",
  },
  "api.overlay.join": { description: "Refuses every request with 501 `not_built`: there are no overlay networks yet." },
  "api.overlay.delete": {
    description: "Refuses every request with 501 `not_built`: there are no overlay networks yet.",
    request: { overlay_name: "training" },
  },
};
