export type { CertificateFiles } from "./certificate-files.ts";
export { CERTIFICATES_LOOP, nameLoops } from "./loops.ts";
export { ServedNames, type NameSettings, type NameState, type WantedName } from "./names.ts";
export { covers, parseHostName } from "./rules/names.ts";
export { CERTIFICATES_CHANNEL } from "./store.ts";
