// The rows of connections to cloud storage.
import type { TestCaller } from "../support/fixtures.ts";
import { ABSENT, at, onObject, plain, type Row } from "./row.ts";
import { anInstance, type World } from "./world.ts";

const CONNECTIONS = "/api/v0/users/cloud/";
const CONNECTION = { provider: "b2", user_given_name: "b", key_id: "004a", application_key: "k" };

/** A connection of the user's, made when there is none left: there is a limit. */
async function aConnection(world: World, user: TestCaller): Promise<number> {
  const { body } = await world.send("GET", at(CONNECTIONS), user.secret);
  const [first] = body as readonly { readonly id: number }[];
  if (first !== undefined) return first.id;
  return Number((await world.done("POST", at(CONNECTIONS, CONNECTION), user))["id"]);
}

const COPIES = "/api/v0/commands/rclone/";

const copy = (instanceId: number, selected: number) =>
  at(COPIES, { instance_id: instanceId, selected, src: "/a", dst: "b/c", transfer: "Instance to Cloud" });

const instanceId = async (world: World, user: TestCaller) => (await anInstance(world, user)).id;

export const cloudEndpoints = {
  "POST /api/v0/commands/rclone/": {
    needs: "instance_write",
    call: async (world) => copy(await instanceId(world, world.owner), await aConnection(world, world.owner)),
    aims: async (world) => {
      const { owner, stranger } = world;
      const [own, foreign] = [await instanceId(world, owner), await instanceId(world, stranger)];
      const [mine, theirs] = [await aConnection(world, owner), await aConnection(world, stranger)];
      return {
        instance_id: { own: copy(own, mine), foreign: copy(foreign, mine), absent: copy(ABSENT, mine) },
        selected: { own: copy(own, mine), foreign: copy(own, theirs), absent: copy(own, ABSENT) },
      };
    },
  },
  "DELETE /api/v0/commands/rclone/": onObject("instance_write", "dst_id", instanceId, (id) =>
    at(COPIES, { dst_id: id }),
  ),
  "GET /api/v0/users/cloud_integrations/": plain("user_read", "/api/v0/users/cloud_integrations/"),
  "GET /api/v0/users/cloud/": plain("user_read", CONNECTIONS),
  "POST /api/v0/users/cloud/": plain("user_write", CONNECTIONS, CONNECTION),
  "DELETE /api/v0/users/cloud/": onObject("user_write", "id", aConnection, (id) => at(CONNECTIONS, { id })),
} satisfies Readonly<Record<string, Row>>;
