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
  "api.admin.overview": {
    description:
      "Returns GPUs by model, instances by phase, rents and refusals, the money of the house, and the numbers of what waits for an administrator, all of one moment. Refusals and loops are those of the server that answers.",
  },
  "api.admin.loops": {
    description: "Returns the background loops of this process with their runs and failures, and whether each is late.",
  },
  "api.admin.settings": {
    description:
      "Returns each setting of the server that answers with its value and where that comes from. Values of secrets are never shown.",
  },
  "api.admin.pauses": {
    description: "Returns pauses of the service, the newest first, and whether one lasts now.",
  },
  "api.admin.pause.begin": {
    description:
      "Pauses the service, at once or from a later time, for at most seven days: changes of accounts are refused with 503 `service_paused` and `Retry-After`. Reading, signing in, stopping and deleting go on, and so does what runs; administrators may do everything. Everybody sees an announcement. Another pause that lasts or is planned is replaced. 400 `invalid_args` for an end that is past or not later than the beginning.",
    request: { message: "We move to a larger database.", until: 1_767_225_600 },
  },
  "api.admin.pause.end": {
    description:
      "Ends the pause of the service that lasts or is planned, and its announcement. 404 `no_such_pause` while there is none.",
  },
  "api.announcement.list": {
    description:
      "Returns the operator's announcements whose time it is. With a key those for hosts or renters are shown as well, by what the account has. Title and message are plain text.",
  },
  "api.admin.announcements": {
    description: "Returns announcements of all times, the newest first, 200 at most.",
  },
  "api.admin.announcement.create": {
    description:
      "Publishes an announcement; the other administrators are told. 400 `invalid_args` for an end that is not later than its beginning.",
    request: { title: "Maintenance on Sunday", message: "The console is away for ten minutes from 02:00 UTC." },
  },
  "api.admin.announcement.update": {
    description:
      "Changes the fields of an announcement that are sent. 404 `no_such_announcement`, 400 `invalid_args` for an end that is not later than its beginning.",
    request: { until: 1_767_312_000 },
  },
  "api.admin.announcement.delete": {
    description: "Removes an announcement, which is shown to nobody any more. 404 `no_such_announcement`.",
  },
  "api.admin.search": {
    description:
      "Looks through accounts, machines, instances, volumes, documents and payouts at once, and returns at most ten of a kind.",
  },
};
