// The kinds of charges.
export const KINDS = ["instance", "serverless", "volume"] as const;
export type Kind = (typeof KINDS)[number];
export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  instance: "Instances",
  serverless: "Endpoints",
  volume: "Volumes",
};
