import { Type } from "typebox";
import { model } from "../../../../http/model.ts";

/** Parameters that the issuer adds to the address; the client of the issuer reads them. */
export const SsoCallbackQuery = Type.Object({
  code: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  iss: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  error_description: Type.Optional(Type.String()),
});

export const SsoProblemsResponse = Type.Object({
  success: Type.Literal(true),
  problems: Type.Array(model("SsoProblem", { code: Type.String(), msg: Type.String() })),
});
