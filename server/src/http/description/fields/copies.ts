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
  "AttachedSshKey.key": [
    "JSON text: the attached key as `{id, name, public_key}`",
    '{"id": 3, "name": "me@laptop", "public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample"}',
  ],
  src_id: ["Source: instance `C.<id>` or volume `V.<id>`", "C.77"],
  dst_id: ["Destination: instance `C.<id>` or volume `V.<id>`", "V.21"],
  "CopyRequest.src_id": [
    "Source: instance `C.<id>`, volume `V.<id>`, backup `vast.<contract_id>`, or `local` or null for the own computer",
    "C.77",
  ],
  "CopyRequest.dst_id": [
    "Destination: instance `C.<id>`, volume `V.<id>`, or `local` or null for the own computer",
    "V.21",
  ],
  "CopySizeRequest.src_id": ["Source: instance `C.<id>`, or volume `V.<id>` that an instance of yours has", "C.77"],
  "CopyStarted.src_addr": [
    "Address of the source for rsync over SSH, when the destination is the own computer",
    "192.0.2.10",
  ],
  "CopyStarted.src_port": ["Port of the SSH server at `src_addr`", 40_022],
  "CopyStarted.dst_addr": [
    "Address of the destination for rsync over SSH, when the source is the own computer",
    "192.0.2.10",
  ],
  "CopyStarted.dst_port": ["Port of the SSH server at `dst_addr`", 40_022],
  "CopyStarted.rsync_user": ["User of rsync at that address; it opens copies and nothing else", "vastai_kaalia"],
  "CopyStarted.rsync_path": ["Module and path for rsync: they follow `user@address::`", "77/workspace/out"],
  "CopyStarted.ssh_host_key": [
    "Host key of the instance's SSH server, as in known_hosts; null while it is not known",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample",
  ],
  src_path: ["Path at the source", "/workspace/out"],
  dst_path: ["Path at the destination", "/data/out"],
};
