// The ways in which spending is split.
export const SPLITS = ["instance", "label", "endpoint", "person", "key", "kind"] as const;
export type Split = (typeof SPLITS)[number];
export const SPLIT_WORDS: Readonly<Record<Split, string>> = {
  instance: "Instance",
  label: "Label",
  endpoint: "Endpoint",
  person: "Person",
  key: "Key",
  kind: "Kind",
};
