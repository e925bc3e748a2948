// The rows of templates.
import { randomUUID } from "node:crypto";
import type { TestCaller } from "../support/fixtures.ts";
import { ABSENT, at, onObject, onUser, plain, type Needs, type Row } from "./row.ts";
import { anInstance, type Target, type World } from "./world.ts";

const NO_SUCH_HASH = "0".repeat(32);

async function aTemplate(world: World, user: TestCaller) {
  const body = { name: randomUUID(), image: "alpine", private: true };
  const { template } = await world.done("POST", at("/api/v0/template/", body), user);
  const { id, hash_id: hashId } = template as { readonly id: number; readonly hash_id: string };
  return { id, hashId };
}

/** An operation on the library of an account: whose it is stands in the path, and what it acts on in the body. */
function onLibrary(
  needs: Needs,
  path: (id: string | number) => string,
  bodyFor: (world: World) => Promise<Readonly<Record<string, unknown>>>,
  more: (world: World) => Promise<Awaited<ReturnType<NonNullable<Row["aims"]>>>> = async () => ({}),
): Row {
  return {
    needs,
    call: async (world) => at(path(world.owner.id), await bodyFor(world)),
    aims: async (world) => ({
      user_id: {
        own: at(path(world.owner.id), await bodyFor(world)),
        foreign: at(path(world.stranger.id), await bodyFor(world)),
        absent: at(path(ABSENT), await bodyFor(world)),
      },
      ...(await more(world)),
    }),
  };
}

/** Targets by the id of an own template, of a stranger's private one, and of none. */
async function aimAtTemplate(world: World, aim: (id: number) => Target) {
  const [own, foreign] = [await aTemplate(world, world.owner), await aTemplate(world, world.stranger)];
  return { template_id: { own: aim(own.id), foreign: aim(foreign.id), absent: aim(ABSENT) } };
}

const ownTemplate = async (world: World) => ({ template_id: (await aTemplate(world, world.owner)).id });
const libraryOf = (id: string | number) => `/api/v0/users/${id}/templates/`;
const additionOf = (id: string | number) => `/api/v0/users/${id}/template/`;

export const templateEndpoints = {
  "GET /api/v0/template/": {
    needs: "user_read",
    call: async (world) => {
      await aTemplate(world, world.owner);
      return at("/api/v0/template/");
    },
  },
  "GET /api/v0/template/{id}/versions/": {
    needs: "user_read",
    call: async (world) => at(`/api/v0/template/${(await aTemplate(world, world.owner)).id}/versions/`),
    aims: async (world) => ({
      id: (await aimAtTemplate(world, (id) => at(`/api/v0/template/${id}/versions/`))).template_id,
    }),
  },
  "GET /api/v0/template/{id}/outlook/": {
    needs: "user_read",
    call: async (world) => at(`/api/v0/template/${(await aTemplate(world, world.owner)).id}/outlook/`),
    aims: async (world) => ({
      id: (await aimAtTemplate(world, (id) => at(`/api/v0/template/${id}/outlook/`))).template_id,
    }),
  },
  "GET /api/v0/template/params/": plain("user_read", "/api/v0/template/params/"),
  "POST /api/v0/template/": {
    needs: "user_write",
    call: () => at("/api/v0/template/", { name: randomUUID(), image: "alpine" }),
  },
  "PUT /api/v0/template/": onObject(
    "user_write",
    "hash_id",
    async (world, user) => (await aTemplate(world, user)).hashId,
    (hash) => at("/api/v0/template/", { hash_id: hash, desc: "changed" }),
    NO_SUCH_HASH,
  ),
  "PUT /api/v1/template/": onObject(
    "user_write",
    "hash_id",
    async (world, user) => (await aTemplate(world, user)).hashId,
    (hash) => at("/api/v1/template/", { hash_id: hash, desc: "changed" }),
    NO_SUCH_HASH,
  ),
  "DELETE /api/v0/template/": {
    needs: "user_write",
    call: async (world) => at("/api/v0/template/", { template_id: (await aTemplate(world, world.owner)).id }),
    aims: async (world) => {
      const [own, foreign, second] = [
        await aTemplate(world, world.owner),
        await aTemplate(world, world.stranger),
        await aTemplate(world, world.owner),
      ];
      return {
        template_id: {
          own: at("/api/v0/template/", { template_id: own.id }),
          foreign: at("/api/v0/template/", { template_id: foreign.id }),
          absent: at("/api/v0/template/", { template_id: ABSENT }),
        },
        hash_id: {
          own: at("/api/v0/template/", { hash_id: second.hashId }),
          foreign: at("/api/v0/template/", { hash_id: foreign.hashId }),
          absent: at("/api/v0/template/", { hash_id: NO_SUCH_HASH }),
        },
      };
    },
  },
  "GET /api/v1/template/": plain("user_read", "/api/v1/template/"),
  "GET /api/v0/template/recent/": {
    needs: "user_read",
    call: async (world) => {
      const { hashId } = await aTemplate(world, world.owner);
      await anInstance(world, world.owner, { image: null, template_hash_id: hashId });
      return at("/api/v0/template/recent/");
    },
  },
  "GET /api/v0/users/{user_id}/templates/": onUser("instance_read", libraryOf),
  "GET /api/v0/users/{user_id}/templates/autoscaler/": onUser("instance_read", (id) => `${libraryOf(id)}autoscaler/`),
  // Anybody who has the hash of a private template may see it, as they may rent with it.
  "GET /api/v0/users/{user_id}/templates/{hash_id}/": {
    needs: "instance_read",
    call: async (world) => at(`${libraryOf("me")}${(await aTemplate(world, world.owner)).hashId}/`),
    aims: async (world) => {
      const { hashId } = await aTemplate(world, world.owner);
      const of = (id: number) => at(`${libraryOf(id)}${hashId}/`);
      return { user_id: { own: of(world.owner.id), foreign: of(world.stranger.id), absent: of(ABSENT) } };
    },
  },
  "POST /api/v0/users/{user_id}/templates/": onLibrary(
    "instance_write",
    libraryOf,
    async () => ({ templates: [{ name: randomUUID(), image: "alpine" }] }),
    (world) => aimAtTemplate(world, (id) => at(libraryOf("me"), { templates: [{ id, desc: "changed" }] })),
  ),
  "DELETE /api/v0/users/{user_id}/templates/": onLibrary("instance_write", libraryOf, ownTemplate, (world) =>
    aimAtTemplate(world, (id) => at(libraryOf("me"), { template_id: id })),
  ),
  "POST /api/v0/users/{user_id}/template/": onLibrary("instance_write", additionOf, ownTemplate, (world) =>
    aimAtTemplate(world, (id) => at(additionOf("me"), { template_id: id })),
  ),
  "POST /api/v1/templates/fetch-tags/": {
    needs: "user_read",
    call: ({ registry }) => at("/api/v1/templates/fetch-tags/", { image: `${registry.address}/app` }),
  },
  "POST /api/v1/templates/validate-auth/": {
    needs: "user_read",
    call: ({ registry: { address } }) =>
      at("/api/v1/templates/validate-auth/", { server: address, username: "u", token: "t" }),
  },
  "GET /api/v0/docker/tags/": {
    needs: "misc",
    call: ({ registry }) => at(`/api/v0/docker/tags/?image=${registry.address}/app`),
  },
} satisfies Readonly<Record<string, Row>>;
