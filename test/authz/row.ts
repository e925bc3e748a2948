// The form of the rows of `endpoints.ts`.
import type { PermissionCategory } from "../../server/src/base/identity.ts";
import type { TestCaller } from "../support/fixtures.ts";
import type { Target, World } from "./world.ts";

/** `optional`: no key is needed; one that is sent must be valid, and have the category when one is named. */
export type Needs = PermissionCategory | "admin" | "public" | "optional" | "optional user_write";

/** One call with three targets: the caller's object, a stranger's, and one that never was. */
type Aim = { readonly own: Target; readonly foreign: Target; readonly absent: Target };

export type Row = {
  readonly needs: Needs;
  /** A second category that the key needs too. */
  readonly alsoNeeds?: PermissionCategory;
  /** A call that succeeds with the owner's key (for `admin`: the administrator's). Each time a new one is made. */
  readonly call: (world: World) => Promise<Target> | Target;
  /** The parameters in which a call names an object. Absent where a call acts on the caller, or on what is public. */
  readonly aims?: (world: World) => Promise<Readonly<Record<string, Aim>>>;
  /** The caller, when not the owner (for `admin`: the administrator). Asked after `call` or `aims`. */
  readonly as?: (world: World) => Promise<TestCaller> | TestCaller;
  /**
   * The status of a permitted call, where the published API answers another than 200, a key never suffices (403), or the
   * world of these tests lacks a host (409).
   */
  readonly answers?: 400 | 403 | 404 | 409 | 501;
  /** The key inside an instance may do it, to that instance. */
  readonly isForInstanceKeys?: true;
};

/** The caller whose key makes the calls of a row. */
export async function callerOf(row: Row, world: World): Promise<TestCaller> {
  if (row.as !== undefined) return row.as(world);
  return row.needs === "admin" ? world.admin : world.owner;
}

export const ABSENT = 2_000_000_000;

export const at = (path: string, body?: unknown): Target => (body === undefined ? { path } : { path, body });

/** A call that needs no object. */
export function plain(needs: Needs, path: string, body?: unknown): Row {
  return { needs, call: () => at(path, body) };
}

/** A call on an object that `make` makes for a user; both of its ids go into `aim`. */
export function onObject(
  needs: Needs,
  name: string,
  make: (world: World, user: TestCaller) => Promise<string | number>,
  aim: (id: string | number) => Target,
  absent: string | number = ABSENT,
): Row {
  return {
    needs,
    call: async (world) => aim(await make(world, world.owner)),
    aims: async (world) => ({
      [name]: {
        own: aim(await make(world, world.owner)),
        foreign: aim(await make(world, world.stranger)),
        absent: aim(absent),
      },
    }),
  };
}

/** The row for a call that needs a second category. */
export const alsoNeeding = (alsoNeeds: PermissionCategory, row: Row): Row => ({ ...row, alsoNeeds });

/** A path that names the user whose data is wanted. */
export const onUser = (needs: Needs, path: (id: string | number) => string): Row =>
  onObject(
    needs,
    "user_id",
    async (_world, user) => user.id,
    (id) => at(path(id)),
  );
