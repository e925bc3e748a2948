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
  "api.admin.instance.stop": {
    description:
      "Stops an instance of any renter with its data kept, and tells the renter the reason. The renter can start it again: freeze the account to prevent that. 409 `nothing_to_stop` when it does not run, wait or exist.",
    request: { reason: "Its host reported smoke." },
  },
  "api.admin.machine.unlist": {
    description:
      "Takes a machine of any host off the market, and tells the host the reason; what is rented there goes on. The host can list it again: freeze the account to prevent that. 404 `no_such_machine`.",
    request: { reason: "Renters report wrong GPUs." },
  },
  "api.admin.machine.ask_to_move": {
    description:
      "Tells everybody who rents on a machine, by a notification that cannot be switched off, to move until a time. Nothing is stopped then. 404 `no_such_machine`, 400 `invalid_args` for a time that is past.",
    request: { reason: "The host gives the machine up.", until: 1_767_225_600 },
  },
  "api.admin.user.export": {
    description:
      "Returns what is known of an account, for a person who asks for a copy of their data; deleted accounts too. Nothing that opens something is in it. Both audit logs have an entry. 404 `no_such_user`.",
    request: { reason: "The person asked for it on 3 March." },
  },
  "api.admin.user.delete": {
    description:
      "Deletes the account of a person who has nothing left: names, addresses, keys, ways to sign in, notifications and connections are erased. Documents, bookings and the audit log stay under the number of the account. 409 `account_not_empty` with what is `left`, 403 `not_allowed` for teams and administrators, 404 `no_such_user`.",
    request: { reason: "The person asked for it on 3 March." },
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
