import type { FieldWords } from "../schemas.ts";

/** Fields of SSH keys of instances, and of copies, which log in with them. */
export const COPY_FIELDS: FieldWords = {
  "InstanceListSshKeysResponse.ssh_keys": [
    "JSON text: a list of `{id, name, public_key}`",
    '[{"id": 3, "name": "me@laptop", "public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample"}]',
  ],
  "InstanceAttachSshKeyRequest.ssh_key": ["A public key (the line of a .pub file), or the id of one of the account", 3],
  "InstancePutSshKeyRequest.ssh_key_id": ["Id of a key of the account", 3],
  "InstancePutSshKeyRequest.ssh_key": [
    "A public key (the line of a .pub file), or the id of one of the account; together with `ssh_key_id` it must be that key",
    3,
  ],
  "InstancePutSshKeyResponse.key": [
    "JSON text: the attached key as `{id, name, public_key}`",
    '{"id": 3, "name": "me@laptop", "public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample"}',
  ],
  src_id: ["Source: instance `C.<id>` or volume `V.<id>`", "C.77"],
  dst_id: ["Destination: instance `C.<id>` or volume `V.<id>`", "V.21"],
  src_path: ["Path at the source", "/workspace/out"],
  dst_path: ["Path at the destination", "/data/out"],
};
