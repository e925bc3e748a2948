import { readFileSync } from "node:fs";
import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import { ServerList } from "../../../protocol/index.ts";
import { writeDurably } from "../base/durable-file.ts";
import { camelFields, snakeFields, type Camel } from "../wire/fields.ts";

/**
 * Addresses and key that servers told a machine, stored so that it finds a server at its next start when home is down.
 */
const StoredServers = Type.Object({
  /** The server at which the machine had joined. */
  home: Type.String(),
  ...ServerList.properties,
});
export type KeptServers = Camel<Static<typeof StoredServers>>;

export type ServersStore = {
  /** The stored servers; undefined when there are none that can be read: the agent then begins at home. */
  load(): KeptServers | undefined;
  save(servers: KeptServers): void;
};

const schema = Compile(StoredServers);

/** Keeps the servers in a file that only its owner reads. `onFailure` hears of a failure to write. */
export function fileServers(path: string, onFailure: (cause: unknown) => void): ServersStore {
  return {
    load: () => {
      try {
        const value: unknown = JSON.parse(readFileSync(path, "utf8"));
        return schema.Check(value) ? camelFields(StoredServers, value) : undefined;
      } catch {
        // No file, or half of one: the server at home sends the list again.
        return undefined;
      }
    },
    save: (servers) => {
      try {
        writeDurably(path, `${JSON.stringify(snakeFields(StoredServers, servers), undefined, 2)}\n`);
      } catch (cause) {
        onFailure(cause);
      }
    },
  };
}
