// The rows of copies, and of the SSH keys of instances that copies log in with.
import type { TestCaller } from "../support/fixtures.ts";
import { anSshKey } from "../support/ssh-keys.ts";
import { ABSENT, at, onObject, type Row } from "./row.ts";
import { idIn } from "./volume-endpoints.ts";
import { anInstance, type World } from "./world.ts";

const instanceId = async (world: World, user: TestCaller) => (await anInstance(world, user)).id;

/** A key of the account, made when there is none left: there is a limit. */
export async function anSshKeyId(world: World, user: TestCaller): Promise<number> {
  const { body } = await world.send("GET", at("/api/v0/ssh/"), user.secret);
  const [first] = body as readonly { readonly id: number }[];
  if (first !== undefined) return first.id;
  const { key } = await world.done("POST", at("/api/v0/ssh/", { ssh_key: anSshKey() }), user);
  return (key as { readonly id: number }).id;
}

/** A key that an instance of the user lets in; the instance is named first. */
async function anAttachedKey(world: World, user: TestCaller): Promise<{ instance: number; key: number }> {
  const instance = await instanceId(world, user);
  const path = `/api/v0/instances/${instance}/ssh/`;
  const { msg } = await world.done("POST", at(path, { ssh_key: anSshKey() }), user);
  return { instance, key: idIn(msg) };
}

const startCopy = (path: string): Row => {
  const copy = (from: number, to: number) => at(path, { src_id: from, dst_id: to, src_path: "/a", dst_path: "/b" });
  return {
    needs: "instance_write",
    call: async (world) => {
      const id = await instanceId(world, world.owner);
      return copy(id, id);
    },
    aims: async (world) => {
      const [own, foreign] = [await instanceId(world, world.owner), await instanceId(world, world.stranger)];
      return {
        src_id: { own: copy(own, own), foreign: copy(foreign, own), absent: copy(ABSENT, own) },
        dst_id: { own: copy(own, own), foreign: copy(own, foreign), absent: copy(own, ABSENT) },
      };
    },
  };
};

const cancelCopy = (path: string): Row =>
  onObject("instance_write", "dst_id", instanceId, (id) => at(path, { dst_id: id }));

export const copyEndpoints = {
  "GET /api/v0/instances/{id}/ssh/": onObject("instance_read", "id", instanceId, (id) =>
    at(`/api/v0/instances/${id}/ssh/`),
  ),
  "POST /api/v0/instances/{id}/ssh/": {
    needs: "instance_write",
    call: async (world) =>
      at(`/api/v0/instances/${await instanceId(world, world.owner)}/ssh/`, { ssh_key: anSshKey() }),
    aims: async (world) => {
      const { owner, stranger } = world;
      const aim = (id: number, sshKey: string) => at(`/api/v0/instances/${id}/ssh/`, { ssh_key: sshKey });
      const own = await instanceId(world, owner);
      return {
        id: {
          own: aim(own, anSshKey()),
          foreign: aim(await instanceId(world, stranger), anSshKey()),
          absent: aim(ABSENT, anSshKey()),
        },
        ssh_key: {
          own: aim(own, String(await anSshKeyId(world, owner))),
          foreign: aim(own, String(await anSshKeyId(world, stranger))),
          absent: aim(own, String(ABSENT)),
        },
      };
    },
  },
  "PUT /api/v0/instances/{id}/ssh/": {
    needs: "instance_write",
    call: async (world) =>
      at(`/api/v0/instances/${await instanceId(world, world.owner)}/ssh/`, {
        ssh_key_id: await anSshKeyId(world, world.owner),
      }),
    aims: async (world) => {
      const { owner, stranger } = world;
      const aim = (id: number, named: object) => at(`/api/v0/instances/${id}/ssh/`, named);
      const [own, mine] = [await instanceId(world, owner), await anSshKeyId(world, owner)];
      const theirs = await anSshKeyId(world, stranger);
      return {
        id: {
          own: aim(own, { ssh_key_id: mine }),
          foreign: aim(await instanceId(world, stranger), { ssh_key_id: mine }),
          absent: aim(ABSENT, { ssh_key_id: mine }),
        },
        ssh_key_id: {
          own: aim(own, { ssh_key_id: mine }),
          foreign: aim(own, { ssh_key_id: theirs }),
          absent: aim(own, { ssh_key_id: ABSENT }),
        },
        ssh_key: {
          own: aim(own, { ssh_key: String(mine) }),
          foreign: aim(own, { ssh_key: String(theirs) }),
          absent: aim(own, { ssh_key: String(ABSENT) }),
        },
      };
    },
  },
  "DELETE /api/v0/instances/{id}/ssh/{key_id}/": {
    needs: "instance_write",
    call: async (world) => {
      const { instance, key } = await anAttachedKey(world, world.owner);
      return at(`/api/v0/instances/${instance}/ssh/${key}/`);
    },
    aims: async (world) => {
      const [own, second, foreign] = [
        await anAttachedKey(world, world.owner),
        await anAttachedKey(world, world.owner),
        await anAttachedKey(world, world.stranger),
      ];
      const aim = (instance: number, key: number) => at(`/api/v0/instances/${instance}/ssh/${key}/`);
      return {
        id: {
          own: aim(own.instance, own.key),
          foreign: aim(foreign.instance, foreign.key),
          absent: aim(ABSENT, foreign.key),
        },
        key_id: {
          own: aim(second.instance, second.key),
          foreign: aim(second.instance, foreign.key),
          absent: aim(second.instance, ABSENT),
        },
      };
    },
  },
  "PUT /api/v0/commands/copy_direct/": startCopy("/api/v0/commands/copy_direct/"),
  "PUT /api/v0/commands/rsync/": startCopy("/api/v0/commands/rsync/"),
  "POST /api/v0/commands/get_copy_size/": onObject("instance_write", "src_id", instanceId, (id) =>
    at("/api/v0/commands/get_copy_size/", { src_id: String(id), src_path: "/a" }),
  ),
  "DELETE /api/v0/commands/copy_direct/": cancelCopy("/api/v0/commands/copy_direct/"),
  "DELETE /api/v0/commands/rsync/": cancelCopy("/api/v0/commands/rsync/"),
} satisfies Readonly<Record<string, Row>>;
