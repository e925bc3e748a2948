import type { OperationWords } from "../operation-words.ts";

/** Operations by which administrators see and run the whole market. */
export const ADMINISTRATION_OPERATIONS: OperationWords = {
  "api.admin.users": {
    description:
      "Returns accounts with their money and the number of what they run, the newest first, page by page. `credit` is as the ledger has it: usage that is not charged yet is still in it. 400 `invalid_token`.",
  },
  "api.admin.user.show": {
    description:
      "Returns one account with its counts, its balance less usage that is not charged yet, its freezes, its open flags and the holds on its payouts, deleted accounts included. 404 `no_such_user`.",
  },
  "api.admin.machines": {
    description: "Returns machines of all hosts with their state, the newest first, page by page. 400 `invalid_token`.",
  },
  "api.admin.instances": {
    description:
      "Returns instances of all renters with their state, the newest first, page by page; containers of hosts on idle GPUs are left out. Environment and commands are not shown. 400 `invalid_token`.",
  },
  "api.admin.search": {
    description:
      "Looks through accounts, machines, instances, volumes, documents and payouts at once, and returns at most ten of a kind.",
  },
};
