import { Type } from "typebox";
import { model } from "../../../../http/model.ts";

export const TemplatePath = Type.Object({
  id: Type.String(),
});

export const VersionsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  after_token: Type.Optional(Type.String({ maxLength: 256 })),
});

const Value = (description: string) => Type.Optional(Type.Unknown({ description, examples: ["2.9"] }));

export const TemplateVersions = Type.Object({
  success: Type.Literal(true),
  template_id: Type.Integer({ description: "Id of the template", examples: [31] }),
  versions: Type.Array(
    model("TemplateVersion", {
      hash_id: Type.String({
        description: "Hash of this version, which rents it and restores it",
        examples: ["3f1c0a5be9d24c7788aa01f2c3d4e5f6"],
      }),
      made_at: Type.Number({
        description: "Time when the template got this content last, in seconds since 1970",
        examples: [1_767_225_600],
      }),
      is_current: Type.Boolean({ description: "True for the present version", examples: [true] }),
      is_readable: Type.Boolean({
        description: "False when its private fields no longer decrypt: it cannot be rented or restored",
        examples: [true],
      }),
      changes: Type.Array(
        model("TemplateChange", {
          field: Type.String({ description: "Name of the field", examples: ["tag"] }),
          before: Value("Value in the version before; absent for a password, and cut after 1,000 characters"),
          after: Value("Value in this version, likewise"),
        }),
        { description: "Differences from the version before; empty for the first one" },
      ),
    }),
    { description: "Versions of the template, the newest first" },
  ),
  next_token: Type.Union([Type.String(), Type.Null()]),
});
