import { Type, type TObjectOptions, type TProperties } from "typebox";

/** An object schema with a name: the OpenAPI document shows it once, under this name. Validators do not look at it. */
export function model<P extends TProperties>(name: string, properties: P, options: TObjectOptions = {}) {
  return Type.Object(properties, { ...options, title: name });
}
