import type { OperationWords } from "../operation-words.ts";

const PERMISSIONS = { api: { instance_read: {}, instance_write: {} } };

/** Accounts, keys, teams, notifications, and how machines join. */
export const PEOPLE_OPERATIONS: OperationWords = {
  "api.user.create": {
    description:
      "Creates an account with its first API key, or with `parent_id` a subaccount of the caller. 409 `user_exists`, 400 `invalid_email` or `missing_auth_value`, 403 `signup_closed` where only administrators create accounts.",
    request: { email: "renter@example.com", username: "renter", password: "correct horse battery staple" },
  },
  "api.user.show": { description: "Returns the account of the key, with balance and credit in dollars." },
  "api.user.update": {
    description:
      "Changes the named fields of the account and keeps all others. 400 `missing_input` without a field, 400 `input_too_long` or `invalid_characters`.",
    request: { fullname: "Ada Example", billaddress_country: "SE" },
  },
  "api.user.request_email_proof": {
    description:
      "Mails a token to the account's address, which proves the address when it comes back. 409 `no_mail_server` where the server cannot send mail.",
  },
  "api.user.confirm_email": {
    description:
      "Proves the account's address with the token that was mailed there. 404 `no_such_proof` for a token that is used, expired or for another account.",
  },
  "api.user.ipaddrs": {
    description:
      "Returns the IP addresses from which an account was used, the latest first. 403 for the account of somebody else.",
  },
  "api.event.follow": {
    description:
      "Streams changes that the key may see as server-sent events, until either side ends the connection. Each event has a JSON object with `id` and `change` (`created`, `changed`, `deleted`). `ready` says that everything missed was told, `reset` that it cannot be told and everything has to be read again. 429 `too_many_streams` beyond 100 streams of an account.",
    response:
      'id: 7412\nevent: volume\ndata: {"id": 7, "change": "created", "name": "weights", "machine_id": 3, "is_deleting": false}\n\n',
  },
  "api.subaccount.list": { description: "Returns the subaccounts of the caller with their balances in dollars." },
  "api.subaccount.regenerate_keys": {
    description:
      "Replaces the first key of one subaccount, or with `regenerate_all` of all, and returns the new keys this once; the old ones open nothing from now on. 404 `no_such_user`, 403 `missing_permissions` when the subaccount's key may do more than the calling one.",
    request: { subaccount_user_id: 8 },
  },
  "api.user.settings": {
    description:
      "Returns the script that the account starts its instances with: always null, since templates have such scripts here. 404 `no_such_user` for any other account.",
  },
  "api.audit_log.page": {
    description:
      "Returns requests that changed something with keys of the account, page by page, with the person and the key; the newest 100,000 are searched. 400 `invalid_args` naming the parameter, 400 `invalid_token`.",
  },
  "api.audit_log.filters": {
    description:
      "Returns people, keys, operations and IP addresses of the newest 100,000 entries, at most 1,000 of each. `success` is false when nothing was logged.",
  },
  "api.audit_log.list": {
    description: "Returns the newest 1,000 requests that changed something with keys of the account.",
  },
  "api.apikey.list": { description: "Returns the API keys of the account, without the keys themselves." },
  "api.apikey.show": { description: "Returns one API key, without the key itself. 404 `no_such_api_key`." },
  "api.apikey.create": {
    description:
      "Creates an API key; the answer shows it this once. 400 `invalid_permissions`, 403 `missing_permissions` for more than the calling key may do, 400 `too_many`.",
    request: { name: "laptop", permissions: PERMISSIONS },
  },
  "api.apikey.delete": {
    description: "Deletes an API key, which opens nothing from now on. 404 `no_such_api_key`.",
    response: "Successfully Deleted API Key",
  },
  "api.apikey.reset": {
    description:
      "Replaces the calling API key by a new one, which the answer shows this once; the old one opens nothing from now on.",
  },
  "api.ssh_key.list": { description: "Returns the public SSH keys of the account." },
  "api.ssh_key.create": {
    description:
      "Stores a public SSH key, which every instance that is created from now on gets. 400 `no_ssh_key` or `invalid_ssh_key`, 400 `max_ssh_keys`.",
    request: { ssh_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample me@laptop" },
  },
  "api.ssh_key.update": {
    description:
      "Replaces a public SSH key; existing instances keep the keys that they were created with. 400 `no_ssh_key` or `invalid_ssh_key`.",
    request: { ssh_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample me@laptop" },
  },
  "api.ssh_key.delete": {
    description:
      "Deletes a public SSH key; existing instances keep the keys that they were created with. 400 `no_ssh_key`.",
  },
  "api.saved_search.list": {
    description: "Returns the searches for offers that the caller keeps, by name. In a team each member has their own.",
  },
  "api.saved_search.save": {
    description:
      "Saves a search for offers under a name, with the columns that it is looked at in; one of the same name is replaced. The text is kept as it is: a search checks it. 400 `too_many` for more than 100, 400 `invalid_args` naming the field.",
    request: { name: "cheap 4090s", query: "gpu_name=RTX_4090 num_gpus>=2", columns: ["gpu_name", "dph_total"] },
  },
  "api.saved_search.delete": {
    description: "Deletes a saved search of the caller. 404 `no_such_saved_search`.",
  },
  "api.secret.list": {
    description: "Returns the names of the account's environment variables; values are never shown.",
  },
  "api.secret.create": {
    description:
      "Adds an environment variable that every container of the account gets when it starts. 400 `existing_key`, `reserved_key`, `max_secrets`, `missing_input` or `invalid_characters`.",
    request: { key: "HF_TOKEN", value: "hf_example" },
  },
  "api.secret.update": {
    description:
      "Changes an environment variable; running containers keep the old value until they start again. 400 `nonexistent_key`, `missing_input` or `invalid_characters`.",
    request: { key: "HF_TOKEN", value: "hf_example" },
  },
  "api.secret.delete": {
    description:
      "Deletes an environment variable; running containers keep it until they start again. 400 `nonexistent_key` or `missing_input`.",
    request: { key: "HF_TOKEN" },
  },

  "api.cloud.integrations": {
    description: "Returns the caller's connections to cloud storage with id, name and kind, and without their keys.",
  },
  "api.cloud.list": {
    description:
      "Returns the caller's connections to cloud storage with all that was stored about them, except their keys.",
  },
  "api.cloud.connect": {
    description:
      "Stores keys of a cloud storage, encrypted, for copies between it and instances. No answer shows them again; a host gets them for each copy that it carries out, and its operator can read them: use keys that open one bucket only. Nothing of the storage is asked until the first copy. 400 `invalid_args` naming the field, 400 `provider_switched_off` for `drive` and `dropbox`, 400 `too_many` for more than 50.",
    request: {
      ...{ provider: "s3", user_given_name: "backups", access_key: "AKIAEXAMPLE", secret_access_key: "secret" },
      ...{ endpoint: "https://s3.example.com", region: "eu-central-1" },
    },
  },
  "api.cloud.disconnect": {
    description:
      "Deletes a connection with its keys. Copies that are under way go on; files in the storage stay. 404 `no_such_connection`.",
  },

  "api.team.create": {
    description:
      "Creates a team owned by the caller, and returns a key that acts as the team. The calling key stays personal. 400 `team_name_exists` or `too_many_teams`, 403 `team_user_forbidden`.",
    request: { team_name: "Example Lab", transfer_credit: 20 },
  },
  "api.team.delete": {
    description:
      "Deletes the team of the calling key; its credit goes to the owner. 403 `not_allowed` for anybody but the owner, 409 `team_not_empty` while it has instances, volumes or machines.",
  },
  "api.team.update": {
    description: "Renames the team of the calling key. 400 `team_name_exists`.",
    request: { team_name: "Example Lab" },
  },
  "api.team.transfer": {
    description:
      "Makes another member the owner of the team. 403 `not_allowed` for anybody but the owner, 404 `no_such_member`.",
    request: { new_team_owner_id: 9 },
  },
  "api.team.list": {
    description: "Returns the teams that the caller is a member of; a key of a team returns that team alone.",
  },
  "api.team.balances": { description: "Returns balance and credit of the teams that the caller may see, in dollars." },
  "api.team.apikeys": {
    description:
      "Returns the API keys of all members of the team, without the keys themselves. 404 `not_found` for a key of no team.",
  },
  "api.team.members": {
    description: "Returns the members of the team with their roles. 404 `not_found` for a key of no team.",
  },
  "api.team.remove_member": {
    description:
      "Removes a member and deletes the member's keys of the team. 404 `no_such_member`, 400 `owner_stays` for the owner.",
  },
  "api.team.leave": {
    description:
      "Ends your membership in the team, with your keys and sessions of it. It takes a key of your own. 404 `no_such_team`, 403 `owner_stays` for its owner, 403 `team_user_forbidden` for a key of a team.",
  },
  "api.team.set_member_role": {
    description:
      "Gives a member another role, by its name or id. 404 `no_such_member`, 400 `owner_stays`, 403 `forbidden` for the owner role or `missing_permissions`.",
    request: { role: "member" },
  },
  "api.team.reset_member_role": {
    description: "Gives a member the role of an ordinary member again. 404 `no_such_member`, 400 `owner_stays`.",
  },
  "api.team.invite": {
    description:
      "Invites somebody by e-mail address; the fields may stand in the query or in the body. 400 `already_member`, `own_team` or `not_a_team_member`, 400 `too_many_members`.",
    request: { email: "member@example.com", role: "member" },
  },
  "api.team.accept_invite": {
    description:
      "Accepts an invitation as the invited person, and returns a key that acts as the team. 404 `no_such_invitation`, 400 `already_member`.",
  },
  "api.team.roles": {
    description:
      "Returns the names of the team's roles, the owner role included. 404 `not_found` for a key of no team.",
    response: ["Owner", "Manager", "Member", "trainer"],
  },
  "api.team.roles_full": {
    description:
      "Returns the roles that members can be given, without the owner role. 404 `not_found` for a key of no team.",
  },
  "api.team.show_role": {
    description: "Returns one role by its name or identifier. 404 `not_found` for an unknown role.",
  },
  "api.team.create_role": {
    description:
      "Creates a role. 400 `role_name_exists`, `too_many_roles`, `invalid_permissions` or `missing_permissions`.",
    request: { name: "trainer", permissions: PERMISSIONS },
  },
  "api.team.update_role": {
    description:
      "Changes name or permissions of a role, which the path names by its id. 403 `forbidden` for a default role, 400 `invalid_permissions`.",
    request: { permissions: PERMISSIONS },
    response: { success: true, msg: "Successfully Updated Team Role For trainer" },
  },
  "api.team.delete_role": {
    description:
      "Deletes a role by its name. 400 `role_in_use` while members have it, 403 `forbidden` for a default role.",
  },

  "api.notice.list": {
    description: "Returns the caller's notifications, the newest first, with the deliveries of each.",
  },
  "api.notice.read": {
    description: "Marks notifications as read, by their ids or up to one of them.",
    request: { up_to_id: 301 },
  },
  "api.notification_type.list": {
    description: "Returns the notification types and the channels that each uses by default.",
  },
  "api.notification_preference.show": {
    description: "Returns the channels by notification type. 403 for the account of somebody else.",
  },
  "api.notification_preference.update": {
    description:
      "Replaces the channels by notification type; types that are left out go back to their default. 400 `invalid_args` for an unknown type.",
  },
  "api.webhook.list": { description: "Returns the webhooks of the account, without their secrets." },
  "api.webhook.deliveries": {
    description:
      "Returns the newest deliveries to a webhook, the newest first, with the answer to the last attempt. 404 `no_such_webhook`.",
  },
  "api.webhook.create": {
    description:
      "Creates a webhook and turns on its notification types; its secret is shown this once. 400 `max_webhooks`, 400 `invalid_args` for an address that is no public https address.",
  },
  "api.webhook.update": {
    description:
      "Changes the named fields of a webhook and keeps all others. 404 `no_such_webhook`, 400 `invalid_args`.",
    request: { event_types: ["client:low_credit"] },
  },
  "api.webhook.delete": { description: "Deletes a webhook. 404 `no_such_webhook`." },
  "api.webhook.rotate_secret": {
    description: "Replaces the secret of a webhook; the new one is shown this once. 404 `no_such_webhook`.",
  },
  "api.webhook.test": {
    description: "Calls a webhook once with a test event and returns the outcome. 404 `no_such_webhook`.",
  },

  "api.agent.join": {
    description:
      "Exchanges a join token for the credential with which an agent connects; agents call it. 400 `invalid_join_token`, 409 `already_joined`.",
  },
  "api.host_token.create": {
    description: "Creates a join token, with which one machine can join; it is shown this once. 400 `too_many`.",
    request: { name: "gpu-rack-3", expires_in_s: 86_400 },
  },
  "api.host_token.list": { description: "Returns the caller's join tokens, without the tokens themselves." },
  "api.host_token.delete": {
    description: "Deletes a join token, with which no machine can join from now on. 404 `no_such_join_token`.",
  },
  "api.host.list": { description: "Returns the caller's agent credentials with their machines." },
  "api.host.revoke": {
    description:
      "Revokes the credential of an agent, whose machine is cut off. 404 `no_such_credential`, 409 `own_agent` for the server's own agent.",
  },
  "api.host_flag.list": {
    description:
      "Returns contradictions in what the caller's machines declare or report, the newest first, 500 at most.",
  },

  "api.schedule.list": {
    description:
      "Returns the scheduled jobs of the account with their last runs: those that go on first, 2,048 at most. The body of a job is shown to the key that it acts with.",
  },
  "api.schedule.create": {
    description:
      "Schedules a request, which the server sends to itself with the rights that the calling key, or the one in `api_key_id`, has at each run. Times are UTC. 422 `job_exists` with `scheduled_job_id` when the account sends the same request at the same times already; 400 `too_many` above 500 jobs, 400 `invalid_args` for times that do not fit the frequency or a path that does not exist, 403 for an operation that the key may not call and for an `api_key_id` that may do more than the calling key, 404 `not_found` for an unknown one.",
    request: {
      api_endpoint: "/api/v0/instances/reboot/77/",
      request_method: "PUT",
      request_body: {},
      frequency: "DAILY",
      hour_of_the_day: 3,
      instance_id: 77,
    },
  },
  "api.schedule.update": {
    description:
      "Changes the named fields of a scheduled job, which acts with the calling key, or the one in `api_key_id`, from then on; another key than the job's names the whole request. A job that is over goes on with its new times. 404 `not_found`, 400 `missing_input` without a field, 422 `job_exists` as for a new job.",
    request: { frequency: "WEEKLY", day_of_the_week: 1, hour_of_the_day: 3 },
  },
  "api.schedule.delete": {
    description: "Deletes a scheduled job with its history. A run that has begun goes on to its end. 404 `not_found`.",
  },
  "api.schedule.runs": {
    description:
      "Returns the runs of a scheduled job of the last 90 days, the newest first: done, failed with the reason, missed, or of unknown outcome because a server ended during the run. 404 `not_found`.",
  },
};
