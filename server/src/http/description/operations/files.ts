import type { OperationWords } from "../operation-words.ts";

/** Files of running instances. */
export const FILE_OPERATIONS: OperationWords = {
  "api.instance.list_files": {
    description:
      "Returns the entries of the folder at `path`, the root without one; at most 5,000, and `is_complete` says whether that is all. The instance has to run: 409 `not_running`, `host_offline` or `shell_unavailable`. 404 `no_such_file`, 409 `not_a_folder`.",
  },
  "api.instance.make_folder": {
    description:
      "Makes a folder at `path` in a folder that exists. 404 `no_such_file` without that one, 409 `file_exists` when something is there.",
    request: { path: "/workspace/data" },
  },
  "api.instance.delete_file": {
    description:
      "Deletes what is at `path`: a file, a link and not what it leads to, or an empty folder. 404 `no_such_file`, 409 `folder_not_empty`.",
  },
};
