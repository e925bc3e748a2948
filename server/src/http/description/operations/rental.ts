import type { OperationWords } from "../operation-words.ts";

const SEARCH = { gpu_name: { eq: "RTX 4090" }, num_gpus: { gte: 1 }, order: [["dph_total", "asc"]], limit: 10 };
const RENTAL = { image: "pytorch/pytorch", disk: 40, label: "training", onstart: "python train.py" };

/** Offers, instances, volumes and standing requests. */
export const RENTAL_OPERATIONS: OperationWords = {
  "api.offer.search": {
    description:
      "Searches the offers by conditions `{field: {operator: value}}` (docs/search.md) and returns the best first. Prices are in dollars an hour for the whole offer. 400 `invalid_request` for a condition that makes no sense.",
    request: SEARCH,
  },
  "api.offer.query": {
    description:
      "Searches the offers by `q`, a query text such as `gpu_name=RTX_4090 num_gpus>=2` or the JSON of conditions. Without a `limit` in `q` it returns all offers, 10,000 rows at most. 400 `invalid_request` for a text that cannot be read.",
  },
  "api.offer.search_asks": {
    description:
      "Searches the offers by the conditions in `q` and returns only the columns in `select_cols`. 400 `invalid_request` for a condition that makes no sense.",
    request: { select_cols: ["id", "gpu_name", "dph_total"], q: SEARCH },
  },
  "api.offer.gpu_names": { description: "Returns the names of all models of GPUs on the market. It needs no key." },
  "api.offer.gpu_types": {
    description: "Returns all models of GPUs on the market with the memory of one GPU, in MB. It needs no key.",
  },
  "api.offer.gpu_type": {
    description:
      "Returns the row of `GET /api/v0/gpu_types/` for one model. It needs no key. 404 `no_such_gpu_type` when no such GPU is on the market.",
  },
  "api.offer.query_asks": {
    description:
      "Searches the offers by `q` as `GET /api/v0/bundles/` does, with a key. 400 `invalid_request` for a text that cannot be read.",
  },
  "api.offer.bid_history": {
    description:
      "Returns what a bid for this offer would have done on its machine: for a ladder of prices the part of the time in which it would have run, its interruptions and its cost. Prices are in dollars an hour for all GPUs of the offer. 404 `no_such_ask`, 400 `invalid_args` for a parameter that cannot be read.",
  },
  "api.offer.suggest_bid": {
    description:
      "Returns the lowest bid that runs now on an offer of the bundle, in dollars an hour for the whole offer, as a bare number. 404 `no_such_ask` when no offer of the bundle lasts that long.",
  },
  "api.offer.update_bundle": {
    description:
      "Returns an empty object for a bundle on the market and changes nothing, as the published API does. 404 `no_such_ask` for any other.",
  },
  "api.instance.create": {
    description:
      "Rents the offer and creates an instance; with `price` it is interruptible, and with `dry_run` nothing is created and a forecast is returned. 410 `no_such_ask` when the offer is gone, 400 `insufficient_credit` or `cap_reached` when it cannot be paid, 400 `bid_too_low` for a bid that waits (the instance exists, `new_contract` names it).",
    request: RENTAL,
  },
  "api.instance.create_bulk": {
    description:
      "Creates one instance from each of the offers in `ids`, at most 64. The answer has one result for each; the request is refused only when none could be created: 400 with the reason of the first.",
    request: { ...RENTAL, ids: [481, 482] },
  },
  "api.instance.launch": {
    description:
      "Searches the offers by `q` and rents the first that can be had, in the order of the search. 404 `no_such_ask` when no offer matches; otherwise refused as the creation from one offer.",
    request: { ...RENTAL, q: SEARCH },
  },
  "api.instance.page": {
    description:
      "Returns at most 25 instances of the caller, with filters, order and chosen columns. 400 `invalid_token` for a token that this list did not give, 400 `invalid_request` for an unknown column.",
  },
  "api.instance.list": {
    description: "Returns all instances of the caller at once. Large accounts use `/api/v1/instances/`.",
  },
  "api.instance.filters": {
    description:
      "Returns each combination of status, verification and GPU that the caller's instances have, for filters in consoles.",
  },
  "api.instance.count": {
    description: "Returns the number of instances of the caller, as many as their list has.",
  },
  "api.instance.counts": {
    description: "Returns the numbers of instances and volumes of the caller, as many as their lists have.",
  },
  "api.instance.lite": {
    description:
      "Refuses every request with 404 `switched_off`, as the published API does. `GET /api/v1/instances/` lists instances.",
  },
  "api.user.spend_rate": {
    description:
      "Returns what the caller's instances and volumes cost at present, in dollars an hour. Traffic is left out, since it is not known before, and so is running time that is prepaid.",
  },
  "api.instance.show": {
    description:
      "Returns one instance of the caller. An unknown or deleted instance is null with status 200, not an error.",
  },
  "api.instance.events": {
    description:
      "Returns the changes of phase of an instance with actor and cause, the newest first. 404 `no_such_instance`.",
  },
  "api.instance.measurements": {
    description:
      "Returns what an instance used, in equal steps of time: the last hour by default, at most 1,000 steps. Steps of 10 seconds are kept for 6 hours, minutes for 3 days and quarter hours for 184 days; what is older gets longer steps. `series` are means and `maxima` the highest readings of each step; null where nothing was measured. `gpus` are its single GPUs, when it has several. 404 `no_such_instance`, 400 for a wrong `from`, `to` or `resolution`.",
  },
  "api.instance.sparks": {
    description:
      "Returns the last hour of the caller's instances by minutes, for a list of them: those that are not over, the newest first and at most 200, or those that `ids` names. Instances of others are left out. 400 for a wrong `ids`.",
  },
  "api.instance.update": {
    description:
      "Starts or stops an instance, names it, or sets what its traffic may cost in dollars; at least one field is required. 404 `no_such_instance`, 400 `insufficient_credit`, `cap_reached`, `contract_ended` or `traffic_limit_reached` when it cannot start, 400 `label_too_long`.",
    request: { state: "stopped" },
  },
  "api.instance.update_bulk": {
    description:
      "Starts or stops each of up to 100 instances. The answer has one result for each; the request is refused only when none changed.",
    request: { state: "stopped", ids: [77, 78] },
  },
  "api.instance.start_bulk": {
    description:
      "Starts each of up to 100 instances. 400 `missing_input` or `empty_input` without ids, 400 `invalid_instance_id` for what is no id.",
    request: { IDs: [77, 78] },
  },
  "api.instance.destroy_bulk": {
    description: "Destroys each of up to 100 instances with its data. The answer has one result for each.",
    request: { instance_ids: [77, 78] },
  },
  "api.instance.destroy": {
    description:
      "Destroys an instance and deletes its data; what it used until then is charged. 404 `no_such_instance`.",
  },
  "api.instance.reboot": {
    description:
      "Restarts the container in place and keeps its disk and GPUs. 404 `no_such_instance`, 409 `not_running` when it does not run, 409 `under_notice` while it has to leave for a higher claim.",
  },
  "api.instance.recycle": {
    description:
      "Pulls the image again and makes a new container on an empty disk: the files of the instance are lost, those of volumes stay. 400 `invalid_args` when it does not run, 409 `under_notice` while it has to leave for a higher claim, 404 `no_such_instance`.",
  },
  "api.instance.change_bid": {
    description:
      "Changes the bid of an interruptible instance, in dollars an hour for the whole rental; null bids the minimum that runs now. 400 `invalid_args` outside 0.001 to 32 dollars, 400 `bid_below_minimum`, 404 `no_such_instance`.",
    request: { client_id: "me", price: 0.25 },
  },
  "api.instance.prepay": {
    description:
      "Moves dollars from the credit to the instance's deposit, which lowers the price of its running time. 400 `insufficient_credit` or `cap_reached` when it cannot be paid, 400 `no_such_instance` or `contract_ended`.",
  },
  "api.instance.deposit": {
    description:
      "Returns the deposit of a reserved instance, in dollars, and what comes back if it is destroyed now. 404 `no_such_instance`.",
  },
  "api.instance.list_price_increases": {
    description:
      "Returns the prices that hosts ask for letting instances stay beyond their agreed end. Who does not answer keeps the agreed price and end.",
  },
  "api.instance.accept_price_increase": {
    description:
      "Accepts a price increase: the rental goes on past its end date at the new price. 404 `no_pending_price_increase` when it was answered or replaced; 400 for any other field.",
  },
  "api.instance.accept_own_price_increase": {
    description:
      "Accepts the pending price increase of one instance, the older form. With `pending_price_increase_id` it accepts that one only. 404 `no_pending_price_increase` when there is none, or another one.",
  },
  "api.instance.reject_price_increase": {
    description:
      "Rejects a price increase: the rental ends on its end date at its old price. 404 `no_pending_price_increase` when it was answered or replaced; 400 for any other field.",
  },
  "api.instance.request_logs": {
    description:
      "Asks the host for the log of an instance; get `result_url` until it answers 200. 404 `invalid_id`, 409 `host_offline` or `never_started`.",
    request: { tail: "100", filter: "error" },
  },
  "api.instance.follow_logs": {
    description:
      "Streams the log of the instance as server-sent events: `log` with a piece of its output, whose id is its place for `Last-Event-ID`; `gap` when pieces before the next one are not in the log any more; `end` when the container does not run. 404 `no_such_instance`, 409 `host_offline`, `never_started`, `too_many_logs`, or `cannot_follow_logs` for a host with an older agent.",
    response:
      'id: 1767225600000000001-0\nevent: log\ndata: {"stream": "stdout", "at": 1767225600, "text": "epoch 1\\n"}\n\n',
  },
  "api.instance.execute": {
    description:
      "Runs `ls`, `rm` or `du` in the files of an instance, also while it is stopped; get `result_url` until it answers 200. 400 `invalid_container_id`, 409 `host_offline`, 483 for malformed JSON.",
  },
  "api.instance.take_snapshot": {
    description:
      "Makes an image of the container and pushes it to a registry; `status_msg` of the instance shows the progress. 404 `no_such_instance`, 409 `host_offline`, 400 `private_registry`.",
    request: {
      personal_repo: "renter/snapshots:first",
      docker_login_user: "renter",
      docker_login_pass: "dckr_pat_example",
    },
  },
  "api.instance.update_template": {
    description:
      "Replaces image, arguments, variables and commands of an instance, and makes a new container on an empty disk: the files of the instance are lost, those of volumes stay. A stopped instance has the new settings at its next start. 404 `no_such_instance`, 400 `missing_input` without a field, 400 `invalid_args` naming the field.",
    request: { image: "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime", env: "-e MODEL=llama" },
  },
  "api.instance.attach_ssh_key": {
    description:
      "Lets a public SSH key log in to an instance at once, also while it runs. 400 `invalid_ssh_key` or `max_ssh_keys`, 404 `no_such_instance` or `no_such_ssh_key`.",
  },
  "api.instance.put_ssh_key": {
    description:
      "Lets a key of the account, named by its id or its text, log in to an instance at once, and returns that key. A key that is attached already is returned as well. 400 `invalid_args` when the two fields name different keys, 400 `invalid_ssh_key` or `max_ssh_keys`, 404 `no_such_instance` or `no_such_ssh_key`.",
    request: { ssh_key_id: 3 },
  },
  "api.instance.list_ssh_keys": {
    description: "Returns the SSH keys that may log in to an instance, as a JSON text. 404 `no_such_instance`.",
  },
  "api.instance.detach_ssh_key": {
    description:
      "Shuts an SSH key out of an instance at once, also while it runs. 404 `no_such_instance` or `no_such_ssh_key`.",
  },
  "api.copy.start": {
    description:
      "Copies files between instances and volumes, within a machine or from one to another; the status message of the destination shows the progress. A backup is a source, too: `src_id` is `vast.<contract_id>`, and the files of an instance are below `/upper`. With the own computer on one side (`local`, null or no id) nothing is copied yet: the answer names address, port, user and path for rsync over SSH. 404 `no_such_instance`, `no_such_volume` or `no_such_backup`, 409 `host_offline`, `not_running` or `no_ssh_access`, 400 `invalid_args`.",
    request: { client_id: "me", src_id: "C.77", src_path: "/workspace/out", dst_id: "V.21", dst_path: "/data/out" },
  },
  "api.backup.list": {
    description:
      "Returns the backups that the service made of the caller's instances and volumes, the newest first. Nobody but the operator asks for one; besides, each instance and volume is backed up once when its rental is about to end. They outlive what they were made of. Where the service makes no backups, the list is empty and `msg` says so.",
  },
  "api.backup.files": {
    description:
      "Returns the file of the newest backup of an instance or volume, with its address and a token that opens it for an hour: the whole value of the header `Authorization`, or the query parameter of that name. It is a tar archive, compressed by gzip: an instance's own files are below `upper/`, a volume's at the root. 404 `no_such_backup`.",
  },
  "api.copy.size": {
    description:
      "Asks the host for the bytes at a path of an instance; get `result_url` until it answers 200 with the number, a tab and the path. A volume is measured through an instance that has it, and the path is then that instance's. 404 `no_such_instance` or `no_such_volume`, 409 `host_offline`, 400 `invalid_args`.",
    request: { src_id: "C.77", src_path: "/workspace/out" },
  },
  "api.cloud.copy": {
    description:
      "Has the host of an instance, running or stopped, copy between it and a cloud storage. A folder's contents go into the folder `dst`, and so does a single file; nothing at the destination is deleted. Progress is in `status_msg`; `result_url` answers when the copy has ended, for ten minutes. The host gets the keys of the connection for this copy. 400 `invalid_args` naming the field, 404 `no_such_connection`, `no_such_instance` or `no_such_volume`, 409 `too_many_tasks` or `unreadable_connection`.",
    request: {
      ...{ instance_id: "77", src: "/workspace/out", dst: "bucket/out", selected: "3", transfer: "Instance To Cloud" },
      flags: ["--update"],
    },
  },
  "api.cloud.cancel_copy": {
    description:
      "Cancels the copies between an instance or volume and cloud storage; what is copied already stays. 400 `invalid_args`, 404 `no_such_instance` or `no_such_volume`.",
    request: { dst_id: 77 },
  },
  "api.copy.cancel": {
    description:
      "Cancels all copies to an instance or volume that are not finished. 404 `no_such_instance` or `no_such_volume`.",
    request: { client_id: "me", dst_id: "V.21" },
  },

  "api.volume.list": {
    description: "Returns the caller's volumes, local ones, network volumes or both. Sizes are in GB.",
  },
  "api.volume.search": {
    description:
      "Searches space that can be rented as a local volume, by conditions `{field: {operator: value}}`. Prices are in dollars per GB and month, sizes in GB. 400 `invalid_request`.",
    request: { disk_space: { gte: 100 }, order: [["storage_cost", "asc"]], limit: 10, allocated_storage: 100 },
  },
  "api.volume.rent": {
    description:
      "Rents a volume of `size` GB on the offer's machine; it is charged from now on. 404 or 410 `no_such_volume_offer`, 400 `insufficient_credit` or `cap_reached`.",
    request: { id: 9, size: 100, name: "models" },
  },
  "api.volume.delete": {
    description:
      "Deletes a volume with its data; the id may stand in the body or in the query. 404 `no_such_volume`, 409 `volume_in_use` while it is attached to an instance or being cloned.",
    request: { id: 21 },
  },
  "api.volume.copy": {
    description:
      "Rents a new volume from the offer `dst_id` and copies a volume onto it, on the same machine or another. 404 `no_such_volume` or `no_such_volume_offer`, 400 `insufficient_credit` or `cap_reached`.",
    request: { src_id: 21, dst_id: 10 },
  },
  "api.volume.host_list": {
    description:
      "Lists disk space of own machines for rent as volumes, or changes the listing; prices are in dollars per GB and month. 404 `no_such_machine`, 400 `invalid_args` above the operator's price ceiling.",
    request: { machine: 12, size: 500, price_disk: 0.1 },
  },
  "api.volume.unlist": {
    description:
      "Takes listed space off the market; rented volumes stay until their end. 400 `invalid_args` for a listing that is not the caller's.",
  },
  "api.network_volume.search": {
    description:
      "Searches space on network disks that can be rented, by conditions `{field: {operator: value}}`. Prices are in dollars per GB and month. 400 `invalid_request`.",
    request: { disk_space: { gte: 100 }, order: [["storage_cost", "asc"]], limit: 10 },
  },
  "api.network_volume.rent": {
    description:
      "Rents a network volume of `size` GB, which all machines of its group can mount. 404 or 410 `no_such_volume_offer`, 400 `insufficient_credit` or `cap_reached`.",
    request: { id: 10, size: 100, name: "datasets" },
  },
  "api.network_volume.list": {
    description:
      "Lists a network disk for rent as network volumes, or changes the listing; the price is in dollars per GB and month. 400 `invalid_args` for an invalid disk id, 403 `not_authorized` for a disk of somebody else.",
    request: { disk_id: 4, size: 500, price_disk: 0.15 },
  },
  "api.network_volume.unlist": {
    description:
      "Takes a network volume listing off the market; rented volumes stay until their end. 400 `invalid_args` for a listing that is not the caller's.",
  },
  "api.network_disk.list": {
    description: "Returns the caller's network disks by group of machines that mount them. Sizes are in GB.",
  },
  "api.network_disk.mount": {
    description:
      "Declares which own machines mount a network disk, and where; without `disk_id` a disk is made, of `size` GB or as large as the smallest disk of the machines. 403 `not_authorized` for a disk of somebody else, 404 `no_such_machine`, 400 `invalid_args`.",
    request: { machines: [12, 13], mount_point: "/mnt/pool", disk_id: 4 },
  },

  "api.standing_request.list": { description: "Returns the caller's standing requests, the newest first." },
  "api.standing_request.create": {
    description:
      "Puts a request into the queue: an instance is created as soon as an offer matches within `max_dph` dollars an hour. 400 `max_standing_requests`, 400 `invalid_args` naming the field.",
    request: { ...RENTAL, q: { gpu_name: { eq: "RTX 4090" } }, max_dph: 0.5, expires_in_hours: 24 },
  },
  "api.standing_request.show": {
    description:
      "Returns a standing request with its position in the queue and the offers that match it now. 404 `no_such_standing_request`.",
  },
  "api.standing_request.cancel": {
    description:
      "Takes a standing request out of the queue. 404 `no_such_standing_request`, 409 `standing_request_claimed` when it already became an instance.",
  },
};
