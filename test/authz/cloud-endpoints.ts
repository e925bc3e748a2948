// The rows of connections to cloud storage.
import type { TestCaller } from "../support/fixtures.ts";
import { at, onObject, plain, type Row } from "./row.ts";
import type { World } from "./world.ts";

const CONNECTIONS = "/api/v0/users/cloud/";
const CONNECTION = { provider: "b2", user_given_name: "b", key_id: "004a", application_key: "k" };

/** A connection of the user's, made when there is none left: there is a limit. */
export async function aConnection(world: World, user: TestCaller): Promise<number> {
  const { body } = await world.send("GET", at(CONNECTIONS), user.secret);
  const [first] = body as readonly { readonly id: number }[];
  if (first !== undefined) return first.id;
  return Number((await world.done("POST", at(CONNECTIONS, CONNECTION), user))["id"]);
}

export const cloudEndpoints = {
  "GET /api/v0/users/cloud_integrations/": plain("user_read", "/api/v0/users/cloud_integrations/"),
  "GET /api/v0/users/cloud/": plain("user_read", CONNECTIONS),
  "POST /api/v0/users/cloud/": plain("user_write", CONNECTIONS, CONNECTION),
  "DELETE /api/v0/users/cloud/": onObject("user_write", "id", aConnection, (id) => at(CONNECTIONS, { id })),
} satisfies Readonly<Record<string, Row>>;
