import { Argument, type Command } from "commander";
import { parseCloudPlace, parseId, parsePlace, parsePlaceId } from "../parse.ts";
import { serverCommand } from "./connection.ts";

const PROVIDERS = ["s3", "b2", "hf"] as const;
const CLOUD = "connection and path that begins with a bucket, such as 3:bucket/out";
const PLACE = "instance or volume and path, such as 7:/workspace/out";

/** Connections to cloud storage, and copies with them. */
export function declareCloudCommands(program: Command): void {
  const cloud = program.command("cloud").description("cloud storage: connect it, and copy from and to it");
  serverCommand(cloud, "list", "list your connections").action(async (options) =>
    (await import("../commands/cloud/connections.ts")).listConnections(options),
  );
  serverCommand(cloud, "add", "connect a storage; its secret comes by stdin")
    .addArgument(new Argument("<provider>", "kind of the storage").choices(PROVIDERS))
    .argument("<name>", "name for the connection")
    .requiredOption("--key-id <id>", "id of the key; it should open one bucket only, since hosts get it")
    .option("--endpoint <url>", "s3: address of a storage that is not AWS")
    .option("--region <name>", "s3: region, such as eu-central-1")
    .option("--namespace <name>", "hf: user or organisation that has the buckets")
    .action(async (provider, name, options) =>
      (await import("../commands/cloud/connections.ts")).addConnection({ provider, name }, options),
    );
  serverCommand(cloud, "delete", "delete a connection and its keys")
    .argument("<connection>", "id of the connection", parseId)
    .action(async (id, options) => (await import("../commands/cloud/connections.ts")).deleteConnection(id, options));
  copyCommand(cloud, "upload", "copy from an instance or volume to a storage")
    .argument("<source>", PLACE, parsePlace)
    .argument("<destination>", CLOUD, parseCloudPlace)
    .action(async (place, to, options) =>
      (await import("../commands/cloud/copy.ts")).copyWithCloud({ place, cloud: to, isUpload: true }, options),
    );
  copyCommand(cloud, "download", "copy from a storage to an instance or volume")
    .argument("<source>", CLOUD, parseCloudPlace)
    .argument("<destination>", PLACE, parsePlace)
    .action(async (from, place, options) =>
      (await import("../commands/cloud/copy.ts")).copyWithCloud({ place, cloud: from, isUpload: false }, options),
    );
  serverCommand(cloud, "cancel", "end the copies of an instance or volume early")
    .argument("<id>", "such as 7 or V.3", parsePlaceId)
    .action(async (id, options) => (await import("../commands/cloud/copy.ts")).cancelCloudCopy(id, options));
}

function copyCommand(cloud: Command, name: string, summary: string) {
  return serverCommand(cloud, name, summary)
    .option("--dry-run", "only say what would be copied")
    .option("--size-only", "take files of the same size for the same")
    .option("--ignore-existing", "leave files that are there already")
    .option("--update", "leave files that are newer at the destination");
}
