// Every operation of the API that takes something, asked with something wrong.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { badInputsOf, WITHOUT_INPUT, type BadInput } from "./bad-input.ts";
import { endpoints, hiddenEndpoints } from "./endpoints.ts";
import { listOperations, type ApiOperation } from "./openapi.ts";
import type { Row } from "./row.ts";
import { makeWorld, type World } from "./world.ts";

const rows: Readonly<Record<string, Row>> = { ...endpoints, ...hiddenEndpoints };

describe("bad input", () => {
  let world: World;
  let operations: readonly ApiOperation[];
  const cleanups: (() => Promise<void>)[] = [];
  before(async () => {
    world = await makeWorld({ after: (fn) => void cleanups.push(fn) });
    operations = await listOperations({ withFiles: true });
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  /** The fault of the answer to a wrong request; undefined when it is a refusal that names a field of the operation. */
  const faultOf = async (operation: ApiOperation, { field, target }: BadInput, secret: string) => {
    const { status, body, text } = await world.send(operation.method, target, secret);
    const { error, msg, field: named } = body as Readonly<Record<string, unknown>>;
    const message = typeof error === "object" && error !== null && "message" in error ? error.message : msg;
    const said = `${String(message)} ${String(named)}`;
    const isNamed = [field, ...fieldsOf(operation)].some((one) => said.includes(one));
    // An object of a path, and the account of a path, is absent or foreign.
    const isRefused = [403, 404].includes(status) || (status >= 400 && status < 500 && status !== 429 && isNamed);
    return isRefused && typeof message === "string" && message !== ""
      ? undefined
      : `${operation.name} with a wrong ${field}: ${status} ${text.slice(0, 200)}`;
  };

  /** Faults of the answers to all wrong requests; none when one of them is refused as it should be. */
  const faultsOf = async (operation: ApiOperation): Promise<readonly string[]> => {
    const isAdmin = rows[operation.name]?.needs === "admin";
    const faults: string[] = [];
    for (const bad of badInputsOf(operation)) {
      // It may delete or replace the key that it is asked with.
      const secret = isAdmin ? world.admin.secret : await world.keyOf(undefined);
      const fault = await faultOf(operation, bad, secret);
      if (fault === undefined) return [];
      faults.push(fault);
    }
    return faults.length > 0 ? faults : [`${operation.name} takes nothing: it belongs to WITHOUT_INPUT`];
  };

  test("each operation that takes something refuses a wrong value with 4xx, and says what is wrong", async () => {
    const faults: string[] = [];
    for (const operation of operations.filter(({ name }) => !WITHOUT_INPUT.has(name))) {
      faults.push(...(await faultsOf(operation)));
      await world.forgetKeys();
    }
    assert.deepEqual(faults, []);
  });

  test("each operation without input takes nothing that could be wrong", () => {
    const taking = operations.filter((one) => WITHOUT_INPUT.has(one.name) && badInputsOf(one).length > 0);
    assert.deepEqual(
      taking.map(({ name }) => name),
      [],
    );
    const names = new Set(operations.map(({ name }) => name));
    assert.deepEqual(
      [...WITHOUT_INPUT].filter((name) => !names.has(name)),
      [],
    );
  });
});

function fieldsOf({ body, parameters }: ApiOperation): readonly string[] {
  return [...Object.keys(body?.properties ?? {}), ...parameters.map(({ name }) => name)];
}
