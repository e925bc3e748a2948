// The rows of teams: most are calls with a key of a team, which acts as the team and not as its holder.
import { randomUUID } from "node:crypto";
import { aCaller, type TestCaller } from "../support/fixtures.ts";
import { asId, type UserId } from "../../server/src/base/ids.ts";
import { findIdentity } from "../../server/src/domains/people/accounts/keys/identity-store.ts";
import { hashSecret } from "../../server/src/domains/people/accounts/keys/rules/keys.ts";
import { ABSENT, at, onObject, plain, type Needs, type Row } from "./row.ts";
import type { Target, World } from "./world.ts";

const NOTHING = "nothing";

/** A new team of this user, as a caller by the key that came with it. It has a role that allows nothing. */
export async function aTeamOf(world: World, owner: TestCaller): Promise<TestCaller> {
  const name = randomUUID();
  const made = await world.done("POST", at("/api/v0/team/", { team_name: name }), owner);
  const [id, secret] = [made["id"], String(made["key"])];
  const identity = await findIdentity(world.database.kysely, hashSecret(secret));
  if (identity === undefined) throw new Error("the key of the new team is none");
  await aRole(world, { secret }, NOTHING);
  const key = { id: identity.apiKeyId, secret, identity };
  return { id: asId<UserId>(Number(id)), email: "", username: name, key, secret, identity };
}

const shared = new WeakMap<World, Promise<TestCaller>>();

/** One team of the owner's for all rows that leave it as it is. */
function theTeam(world: World): Promise<TestCaller> {
  const known = shared.get(world) ?? aTeamOf(world, world.owner);
  shared.set(world, known);
  return known;
}

async function aRole(world: World, team: Pick<TestCaller, "secret">, name: string = randomUUID()) {
  const body = { name, permissions: { api: {} } };
  return { id: Number((await world.done("POST", at("/api/v0/team/roles/", body), team))["id"]), name };
}

async function aToken(
  world: World,
  team: TestCaller,
  { email }: Pick<TestCaller, "email">,
  role: string = NOTHING,
): Promise<string> {
  const { token } = await world.done("POST", at("/api/v0/team/invite/", { email, role }), team);
  return String(token);
}

/** A new member of the team, without any rights there. */
async function aMember(world: World, team: TestCaller, role: string = NOTHING): Promise<number> {
  // Not by signing up: to hash a password takes longer than all the rest.
  const user = await aCaller(world.database);
  const token = await aToken(world, team, user, role);
  await world.done("GET", at(`/api/v0/team/invite/${token}/`), user);
  return user.id;
}

/** A team of somebody else of which this user is a member. */
async function aMembership(world: World, user: TestCaller): Promise<number> {
  const team = await aTeamOf(world, await aCaller(world.database));
  const token = await aToken(world, team, user);
  await world.done("GET", at(`/api/v0/team/invite/${token}/`), user);
  return team.id;
}

export const inTeam = (needs: Needs, path: string, body?: unknown): Row => ({
  ...plain(needs, path, body),
  as: theTeam,
});

/** A call on a member of the team; a stranger is no member. */
const onMember = (aim: (id: string | number) => Target, role: string = NOTHING): Row => ({
  needs: "team_write",
  as: theTeam,
  call: async (world) => aim(await aMember(world, await theTeam(world), role)),
  aims: async (world) => ({
    id: {
      own: aim(await aMember(world, await theTeam(world), role)),
      foreign: aim(world.stranger.id),
      absent: aim(ABSENT),
    },
  }),
});

/** A call on a role, by its name or by its number. */
const onRole = (
  needs: Needs,
  by: "name" | "id",
  aim: (role: string | number) => Target,
  absent: string | number,
): Row => ({
  needs,
  as: theTeam,
  call: async (world) => aim((await aRole(world, await theTeam(world)))[by]),
  aims: async (world) => ({
    name: {
      own: aim((await aRole(world, await theTeam(world)))[by]),
      foreign: aim((await aRole(world, await aTeamOf(world, world.stranger)))[by]),
      absent: aim(absent),
    },
  }),
});

/** A call that leaves nothing as it was: each one needs a team of its own, which its caller is then asked for. */
function onNewTeam(
  needs: Needs,
  call: (world: World, team: TestCaller) => Promise<Target> | Target,
  aims?: (world: World, team: TestCaller) => ReturnType<NonNullable<Row["aims"]>>,
): Row {
  const last = new WeakMap<World, TestCaller>();
  const make = async (world: World) => {
    const team = await aTeamOf(world, world.owner);
    last.set(world, team);
    return team;
  };
  return {
    needs,
    call: async (world) => call(world, await make(world)),
    as: async (world) => last.get(world) ?? make(world),
    ...(aims === undefined ? {} : { aims: async (world: World) => aims(world, await make(world)) }),
  };
}

const handOver = (id: number) => at("/api/v0/team/transfer/", { user_id: id });

const accept = (token: string) => at(`/api/v0/team/invite/${token}/`);

export const teamEndpoints = {
  "POST /api/v0/team/": {
    needs: "user_write",
    call: () => at("/api/v0/team/", { team_name: randomUUID() }),
  },
  "DELETE /api/v0/team/": onNewTeam("user_write", () => at("/api/v0/team/")),
  "PUT /api/v0/team/": {
    ...inTeam("team_write", "/api/v0/team/"),
    call: () => at("/api/v0/team/", { team_name: randomUUID() }),
  },
  "PUT /api/v0/team/transfer/": onNewTeam(
    "team_write",
    async (world, team) => handOver(await aMember(world, team)),
    async (world, team) => ({
      user_id: {
        own: handOver(await aMember(world, team)),
        foreign: handOver(world.stranger.id),
        absent: handOver(ABSENT),
      },
    }),
  ),
  "DELETE /api/v0/teams/{id}/membership/": onObject("user_write", "id", aMembership, (id) =>
    at(`/api/v0/teams/${id}/membership/`),
  ),
  "GET /api/v0/teams/": plain("user_read", "/api/v0/teams/"),
  "GET /api/v0/team/balances/": inTeam("billing_read", "/api/v0/team/balances/"),
  "GET /api/v0/team/apikeys/": inTeam("team_read", "/api/v0/team/apikeys/"),

  "GET /api/v0/team/members/": inTeam("team_read", "/api/v0/team/members/"),
  "DELETE /api/v0/team/members/{id}/": onMember((id) => at(`/api/v0/team/members/${id}/`)),
  "POST /api/v0/team/members/{id}/roles/": onMember((id) => at(`/api/v0/team/members/${id}/roles/`, { role: NOTHING })),
  "PUT /api/v0/team/members/{id}/roles/": onMember((id) => at(`/api/v0/team/members/${id}/roles/`, { role: NOTHING })),
  "DELETE /api/v0/team/members/{id}/roles/": onMember(
    (id) => at(`/api/v0/team/members/${id}/roles/`),
    // A user who may only manage members cannot grant the rights of a member; a member can only keep them.
    "member",
  ),
  "POST /api/v0/team/invite/": {
    ...inTeam("team_write", "/api/v0/team/invite/"),
    call: () => at("/api/v0/team/invite/", { email: `${randomUUID()}@example.com`, role: NOTHING }),
  },
  "GET /api/v0/team/invite/{token}/": {
    needs: "user_write",
    call: async (world) => accept(await aToken(world, await aTeamOf(world, world.stranger), world.owner)),
    aims: async (world) => ({
      token: {
        own: accept(await aToken(world, await aTeamOf(world, world.stranger), world.owner)),
        foreign: accept(await aToken(world, await aTeamOf(world, world.admin), world.stranger)),
        absent: accept("nobody-was-told-this-one"),
      },
    }),
  },

  "GET /api/v0/team/roles/": inTeam("team_read", "/api/v0/team/roles/"),
  "GET /api/v0/team/roles-full/": inTeam("team_read", "/api/v0/team/roles-full/"),
  "POST /api/v0/team/roles/": {
    ...inTeam("team_write", "/api/v0/team/roles/"),
    call: () => at("/api/v0/team/roles/", { name: randomUUID(), permissions: { api: {} } }),
  },
  "GET /api/v0/team/roles/{name}/": onRole(
    "team_read",
    "name",
    (name) => at(`/api/v0/team/roles/${name}/`),
    "no-such-role",
  ),
  "PUT /api/v0/team/roles/{name}/": onRole(
    "team_write",
    "id",
    (id) => at(`/api/v0/team/roles/${id}/`, { name: randomUUID(), permissions: { api: {} } }),
    ABSENT,
  ),
  "DELETE /api/v0/team/roles/{name}/": onRole(
    "team_write",
    "name",
    (name) => at(`/api/v0/team/roles/${name}/`),
    "no-such-role",
  ),
} satisfies Readonly<Record<string, Row>>;
