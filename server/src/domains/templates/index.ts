export { parseImageReference, registryOf, type RegistryAuth } from "./image-reference.ts";
export { resolveLaunch, type LaunchSettings } from "./launch.ts";
export { resolveRelaunch } from "./relaunch.ts";
export { templateRoutes } from "./routes.ts";
export type { Runtype } from "./runtype.ts";
export { recordTemplateUse, resolveNamedTemplate, resolveTemplateByHash, resolveTemplateById } from "./service.ts";
export { splitShellWords } from "./shell-words.ts";
