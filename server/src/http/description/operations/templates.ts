import type { OperationWords } from "../operation-words.ts";

/** Templates, and the images that they name. */
export const TEMPLATE_OPERATIONS: OperationWords = {
  "api.template.search": {
    description:
      "Returns the caller's own templates and public ones, with filters, order and chosen columns. 400 `invalid_args` for a filter that cannot be read.",
  },
  "api.template.page": {
    description:
      "Returns a page of the caller's own templates and public ones that match a text and filters, and the token of the next page. No match is `success: false` with an empty list. 400 `invalid_args` for a filter that cannot be read, 400 `invalid_token`.",
  },
  "api.template.recent": {
    description:
      "Returns templates that the caller rented with and may still see, the last used first. A page begins after the two values that the page before ended with. 400 `invalid_args` when one of the two is missing.",
  },
  "api.template.library": {
    description:
      "Returns the caller's own templates and those that it added, while these are public; the newest change comes first. 403 `not_authorized` for the id of another account.",
  },
  "api.template.for_workers": {
    description:
      "Returns the templates of the library and recommended ones, from which worker groups can be made. 403 `not_authorized` for the id of another account.",
  },
  "api.template.choices": {
    description:
      "Returns the template of a hash that somebody shared, with the library, popular and recommended templates beside it. 404 `no_such_template`, 403 `not_authorized` for the id of another account.",
  },
  "api.template.store": {
    description:
      "Creates the templates of a list and edits those with an `id`; all of them or none. Refusals name the place in the list, such as `templates[0].image`. 400 `invalid_args`, 404 `no_such_template` or `invalid_template`, 409 `template_exists`.",
    request: { templates: [{ name: "PyTorch", image: "pytorch/pytorch", tag: "latest" }] },
  },
  "api.template.remove": {
    description:
      "Deletes an own template, or takes another's template out of the library. Instances that were made from it stay. 404 `no_such_template`.",
  },
  "api.template.add": {
    description:
      "Adds a public template of another account to the library. Own templates are always in it. 404 `no_such_template`, 400 `too_many`.",
  },
  "api.template.fetch_tags": {
    description:
      "Asks the registry of an image for its tags, with a login if one is given; the login goes there and nowhere else. No tags is `success: false` with `error` `no_tags`. 400 `registry_error` when the registry does not answer or refuses, 400 `private_registry`, 400 `invalid_args`.",
    request: { image: "ghcr.io/owner/app", username: "renter", token: "ghp_example" },
  },
  "api.template.docker_tags": {
    description:
      "Asks the registry of a public image for its tags. No tags is `success: false` with `error` `no_tags`. 400 `registry_error` when the registry does not answer or wants a login, 400 `private_registry`, 400 `invalid_args`.",
  },
  "api.template.check_login": {
    description:
      "Tries a login at a registry, Docker Hub without `server`, and returns the repositories that the registry names. 400 `auth_failed` when the registry refuses it or does not answer, 400 `private_registry`, 400 `invalid_args`.",
    request: { server: "ghcr.io", username: "renter", token: "ghp_example" },
  },
  "api.template.versions": {
    description:
      "Returns the versions of one of the caller's templates, the newest first, each with the fields in which it differs from the version before. An edit with `restore_hash_id` brings a version back. Pages have 20 versions by default and 100 at most. 404 `no_such_template`, 400 `invalid_token` for a token that this list did not give.",
  },
  "api.template.outlook": {
    description:
      "Returns how many offers that can be rented now meet the template's filters, its disk and what the query asks besides, the cheapest of them, and for each condition how many offers it refuses and how many it alone keeps away. Nothing is rented. 404 `no_such_template`, 400 naming the field for a filter that cannot be read.",
  },
  "api.template.params": {
    description:
      "Returns the most characters that each text field of a template may have. Every template keeps to them; a longer text is refused with 400 `invalid_args`.",
  },
  "api.template.create": {
    description:
      "Stores launch settings under a name; an identical template of the caller is returned again. 400 `invalid_args` naming the field, 400 `too_many`.",
    request: {
      name: "PyTorch",
      image: "pytorch/pytorch",
      tag: "latest",
      env: "-p 8000:8000",
      runtype: "ssh",
      recommended_disk_space: 32,
    },
  },
  "api.template.edit": {
    description:
      "Changes the named fields of a template and keeps all others; its `hash_id` changes, its `id` does not. 404 `no_such_template`, 409 `template_exists` or `template_changed`.",
    request: { hash_id: "4e17788f74f075dd9aab7d0d4427968f", tag: "2.4.0-cuda12.4-cudnn9-runtime" },
  },
  "api.template.delete": {
    description:
      "Deletes a template by its id or by any of its hashes; instances that were made from it stay. 404 `no_such_template`.",
    request: { template_id: 31 },
  },
};
