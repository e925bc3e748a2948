/** The sentences of an operation, and examples where the one that its fields make is not telling. */
export type OperationWords = Readonly<
  Record<string, { readonly description: string; readonly request?: unknown; readonly response?: unknown }>
>;
