import type { OperationWords } from "../operation-words.ts";

/** Machines of hosts, market metrics, and administrators' operations. */
export const SUPPLY_OPERATIONS: OperationWords = {
  "api.machine.list": {
    description:
      "Returns the caller's machines with hardware, listing, rentals and earnings. 403 for the machines of somebody else.",
  },
  "api.machine.show": {
    description: "Returns one machine of the caller in a list; the list is empty when there is none.",
  },
  "api.machine.calendar": {
    description:
      "Returns the rentals of each GPU of an own machine for 90 days back, with the agreed ends of those that go on, and announced maintenances. Renters are not named. 404 `no_such_machine`.",
  },
  "api.machine.price_hint": {
    description:
      "Returns the price of an own machine beside the prices that other hosts ask, and are paid, for GPUs of its model now, in dollars per GPU and hour. A band with fewer than three hosts behind it is withheld. 404 `no_such_machine`.",
  },
  "api.machine.measurements": {
    description:
      "Returns what a machine of the caller used, with that of its instances, in equal steps of time, as `GET /api/v0/instances/{id}/measurements/` does. `gpus` are its single GPUs. 403 `not_authorized` for another's machine, 400 for a wrong `from`, `to` or `resolution`.",
  },
  "api.machine.create_asks": {
    description:
      "Lists machines for rent, or changes their listings, all of them or none; prices are in dollars per GPU and hour, per GB and month, and per GB. 403 `not_authorized` for a machine of somebody else, 400 `invalid_args` naming the field, also above the operator's price ceiling.",
    request: {
      machine: 12,
      price_gpu: 0.35,
      price_disk: 0.1,
      price_inetu: 0.002,
      price_inetd: 0.002,
      duration: "1 month",
    },
  },
  "api.machine.delete_asks": {
    description:
      "Takes a machine and its volumes off the market; rentals stay until their agreed end. 404 `no_such_machine`.",
  },
  "api.machine.create_bids": {
    description:
      "Sets the container that runs on the idle GPUs of a machine and leaves when somebody rents. Its prices are shown and charged to nobody. 403 `not_authorized`, 400 `invalid_args`.",
    request: { machine: 12, image: "miner/idle:1", args: ["--quiet"] },
  },
  "api.machine.delete_default_job": {
    description: "Removes the container that runs on idle GPUs. 404 `no_such_machine` or `no_such_default_job`.",
  },
  "api.machine.set_min_bid": {
    description:
      "Sets the minimum bid, in dollars per GPU and hour; bids below it leave with an eviction notice. 403 `not_authorized` for a machine of somebody else, 422 `unprocessable` above the on-demand price.",
  },
  "api.machine.defrag_offers": {
    description:
      "Makes missing offers of machines; `success` is false when the request names none. Offers are of any free GPUs, so nothing is moved for it. 404 `no_such_machine`.",
  },
  "api.machine.schedule_maintenance": {
    description:
      "Announces a maintenance of a machine to its renters; `duration` is in hours. Nothing is stopped by it. 404 `no_such_machine`, 422 `unprocessable` for a window that overlaps another.",
    request: { sdate: "2026-03-01T12:00:00Z", duration: 2, maintenance_category: "power" },
  },
  "api.machine.cancel_maintenance": {
    description: "Cancels all maintenances of a machine that are not over. 404 `no_such_machine`.",
  },
  "api.machine.maintenances": {
    description: "Returns announced maintenances of machines that the caller hosts or rents on.",
  },
  "api.machine.cleanup": {
    description:
      "Destroys what contracts past their end left on a machine. Without it that happens two days after their end. 404 `no_such_machine`.",
  },
  "api.machine.force_delete": {
    description:
      "Removes a machine from all lists; when it joins again it is back under its id. 409 `machine_in_use` while others rent on it, 404 `no_such_machine`.",
  },
  "api.machine.report": {
    description:
      "Reports a problem of a machine on which the caller rents or rented; the host does not see who it was. 404 `no_such_machine`, 409 `too_many_reports`.",
    request: { problem: "slow disk", message: "Reads are slower than 100 MB/s." },
  },
  "api.machine.page": {
    description:
      "Returns the caller's machines page by page, with filters, order and chosen columns. 400 `invalid_args` naming the parameter, 400 `invalid_token`.",
  },
  "api.machine.find_maintenances": {
    description:
      "Returns maintenances that are not over of these machines, as far as the caller hosts or rents on them. 400 `invalid_args` without machines.",
    request: { machine_ids: [12, 13] },
  },
  "api.machine.cancel_one_maintenance": {
    description:
      "Cancels one maintenance of an own machine and tells its renters. 400 `invalid_args` when there is none, or it is over or cancelled.",
  },
  "api.machine.schedule_maintenances": {
    description:
      "Announces a maintenance of up to 100 own machines at once; `results` say of each machine how many renters were told, or why not. 400 `invalid_args` with `results` when no machine got it, 422 `unprocessable` for a time that cannot be read, is past, or lies beyond a year.",
    request: { machine_ids: [12, 13], sdate: 1_767_225_600, duration: 2, maintenance_category: "power" },
  },
  "api.machine.cancel_maintenances": {
    description:
      "Cancels up to 100 maintenances of own machines; `results` say of each what happened. 400 `invalid_args` with `results` when none was cancelled.",
  },
  "api.machine.errors": {
    description:
      "Returns the caller's machines that are out of rotation, at most 500, each with the reason. A machine that is only offline is not among them.",
  },
  "api.machine.error_count": {
    description: "Returns the number of the caller's machines that are out of rotation.",
  },
  "api.machine.reports": {
    description: "Returns the problems that renters reported of a machine. 404 `no_such_machine`.",
  },
  "api.machine.earnings": {
    description:
      "Returns what machines earned, in dollars, by day and by machine; days are counted since 1970-01-01. 400 `invalid_args` for days that contradict each other.",
  },
  "api.earnings.show": {
    description:
      "Returns what the caller's machines earned so far, in dollars. There are no referrals and no service levels: their fields are 0.",
  },
  "api.earnings.data": {
    description:
      "Returns what machines earned, in dollars, by day and by machine; days are counted since 1970-01-01. 400 `invalid_args` for days that contradict each other.",
  },
  "api.earnings.page": {
    description:
      "Returns earnings by day or by machine, in dollars, with the total of all pages; the last 30 days (UTC) by default. 400 `invalid_args` naming the parameter, 400 `invalid_token`.",
  },
  "api.earnings.summary": {
    description: "Returns sums of everything that the caller earned so far, in dollars.",
  },
  "api.earnings.chart": {
    description:
      "Returns what each day (UTC) of a window earned, in dollars; the last 30 days by default. 400 `invalid_args` for a window that cannot be read or has more than 3,660 days.",
  },
  "api.machine.reliability": {
    description:
      "Returns the reliability of a machine, from 0 to 1, with all facts behind it. It needs no key. 404 `no_such_machine`.",
  },
  "api.machine.verification": {
    description:
      "Returns the decision whether a machine is verified, with each check and what it needs. 404 `no_such_machine`.",
  },
  "api.benchmark.search": {
    description:
      "Returns the last measurement of each kind of each machine and worker, with whose figure it is, with filters, order and chosen columns. Pages have 200 entries by default and 1,000 at most. 400 `invalid_token` for a token that this list did not give, 400 `invalid_args` for a filter or column that cannot be read.",
  },
  "api.metrics.gpu_current": {
    description:
      "Returns supply, demand and prices of each model of GPU by the last census; prices are in dollars per GPU and hour. 403 `not_a_host` for accounts that host nothing.",
  },
  "api.metrics.gpu_history": {
    description:
      "Returns supply, demand and prices of models of GPUs over time, as parallel lists. 403 `not_a_host` for accounts that host nothing, 400 `invalid_args` for a span that cannot be read.",
  },
  "api.metrics.gpu_locations": {
    description:
      "Returns GPUs by city and country, counted again every hour. 403 `not_a_host` for accounts that host nothing.",
  },
  "api.market.history": {
    description:
      "Returns the lowest and the median price that was asked for free GPUs of one model, in dollars per GPU and hour, and how many were offered, rented and free: by the hour for up to 14 days, else by the day. Hours without a census have no point. It needs no key. 400 `invalid_args` for a parameter that cannot be read.",
  },
  "api.market.bid_history": {
    description:
      "Returns what a bid for any machine of one model would have done: for a ladder of prices the part of the time in which it would have run, its interruptions and its cost, as if it moved to the cheapest machine at once. Prices are in dollars an hour for all GPUs. It needs no key. 400 `invalid_args` for a parameter that cannot be read.",
  },
  "api.metrics.gpu_prices": {
    description:
      "Returns the prices that are asked for each model of GPU now and a day ago, in dollars per GPU and hour. It needs no key.",
  },

  "api.health.process": {
    description: "Answers 200 while the process answers requests. It needs no key and asks no database.",
  },
  "api.health.ready": {
    description:
      "Answers 200 while database, disk and background loops work, and 503 with the trouble in `status` otherwise. It needs no key.",
  },

  "api.admin.user.create": {
    description:
      "Creates an account for somebody, with an API key that is shown this once, and grants it `credit` dollars. 409 `user_exists`, 400 `invalid_email`.",
    request: { email: "renter@example.com", credit: 25 },
  },
  "api.admin.user.prove_email": {
    description:
      "Declares that an account's address is its own. 404 `no_such_user`, 409 `other_email` when the account claims another address.",
  },
  "api.admin.key.create": {
    description:
      "Creates an API key for a user, which is shown this once. 404 `no_such_user`, 400 `invalid_permissions`.",
    request: { email: "renter@example.com", name: "support" },
  },
  "api.admin.disk": {
    description: "Creates a network disk of `size` GB for a user. 404 `no_such_user`, 400 `too_many`.",
    request: { email: "host@example.com", size: 1000 },
  },
  "api.admin.flag.list": { description: "Returns the flags of all hosts, the newest first, 500 at most." },
  "api.admin.flag.clear": {
    description: "Clears a flag of a host, who reads the reason. 404 `no_such_flag`.",
    request: { reason: "The uplink was repaired" },
  },
  "api.admin.machine.verify": {
    description:
      "Decides by hand whether a machine is verified and whether it is in a data centre, or gives the decision back to the rule. 404 `no_such_machine`, 400 without a field.",
    request: { verification: "verified", hosting_type: 1 },
  },
  "api.admin.machine.back_up": {
    description:
      "Wants a backup of each instance and volume on a machine, again where there is one already; `GET /api/v0/instance_backups/` shows their owners how far it is. 404 `no_such_machine`, 409 `no_backups` where the operator has set no folder for them.",
  },
  "api.admin.freezes": {
    description: "Returns open freezes of accounts, the newest first; lifted ones as well with `all=true`.",
  },
  "api.admin.freeze_account": {
    description:
      "Freezes an account with its subaccounts: what runs is stopped, and changes are refused with `account_frozen`. 404 `no_such_user`.",
    request: { user: "renter@example.com", reason: "Disputed payment" },
  },
  "api.admin.lift_freeze": {
    description: "Lifts a freeze; what was stopped stays stopped until its owner starts it. 404 `no_such_freeze`.",
    request: { reason: "The dispute was settled" },
  },
};
