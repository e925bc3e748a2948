// The build replaces a pattern of files with a map from their paths to their modules, or to loaders of them.
interface ImportMeta {
  glob<M>(pattern: readonly string[], options: { readonly query: string; readonly eager: true }): Record<string, M>;
  glob<M>(pattern: readonly string[]): Record<string, () => Promise<M>>;
}
